"""The table of channels."""

from __future__ import annotations

from workbench.protocol.trained.feature_maps import Channel, channel_table


def test_the_table_has_a_row_for_each_channel():
    one = Channel(
        index=3, least=-1.5, largest=2.0, mean=0.25, strength=0.5, zeros=0.125, low=-2.0,
        high=2.0, histogram=[1, 2],
    )  # fmt: skip
    assert channel_table([one]) == (
        "channel,min,max,mean,strength,zeros\n3,-1.5,2.0,0.25,0.5,0.125\n"
    )
