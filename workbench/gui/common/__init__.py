"""What several features of the window share: no feature imports another one.

- `WindowContext` holds the application's parts; a view is handed `WindowServices`, never the
  window.
- There are two service workers: `WindowContext.service` for interactive requests, `measurer` for
  long ones (finders, the data check, exports, decoding a whole data set).
- `PanelSpec` and `ViewSpec` are what files of `gui.panels` and `gui.views` declare.
- Which run a view shows or classifies with is kept by `ModelChooser`, and changes only by a click;
  unless one was chosen, it follows `default_models`.
- Stop, Pause and messages concern runs of the open project. A run of another project is named in
  the bar, and ended only when the user agrees to that (`may_end`).
"""
