"""What hands expect of fields, of connections and menus, of a network without images and of a
labeled folder: stories of found defects, played by mouse and keyboard.
"""
