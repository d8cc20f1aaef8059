"""Programs that train a project elsewhere, as text: Python scripts and notebook cells."""
