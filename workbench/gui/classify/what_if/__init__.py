"""What the network answers if the picture is altered: sliders, and bars that follow them."""
