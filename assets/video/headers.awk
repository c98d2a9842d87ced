# Prints a line for each frame header in the output of ffmpeg's filter `trace_headers`.
function flush() {
    if (!open) return
    open = 0
    if (field["show_existing_frame"] == 1) {
        print "existing", field["frame_to_show_map_idx"]
        return
    }
    refreshed = ("refresh_frame_flags" in field) ? field["refresh_frame_flags"] : 255
    bytes = int((end + 7) / 8)
    print field["frame_type"], field["show_frame"], field["order_hint"], refreshed, field["base_q_idx"], bytes
}
/Frame Header/ { flush(); delete field; open = 1; end = 0; next }
/OBU header|Packet|Tile Group/ { flush(); next }
$1 == "[trace_headers" && open && $7 == "=" {
    if ($5 ~ /^(zero_bit|trailing_one_bit|tile_start)/) { flush(); next }
    field[$5] = $8
    end = $4 + length($6)
}
END { flush() }
