"""Widgets, theme and dialogs independent of the product.

Colors are tokens of `resources/styles/colors.json`. Labels show text as it is: a name from a file
is never read as rich text. A message that names a button and a command says "in the window by …, in
a terminal by `…`"; `window_words` alone removes the second half and the backticks. Where a message
holds the command that installs a missing part, `InstallDialog` runs it.
"""
