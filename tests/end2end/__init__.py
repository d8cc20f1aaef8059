"""The real window under Xvfb, driven by xdotool as a person would."""
