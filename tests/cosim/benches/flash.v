// SPDX-License-Identifier: Apache-2.0
`timescale 1ns / 1ps

module bench;
    reg clk = 0, reset_n = 0;
    wire [2:0] sck, csn, mosi, miso, match;
    wire [7:0] value0, value1, value2;
    wire all_match;

    flash dut (.clk(clk), .reset_n(reset_n), .sck(sck), .csn(csn), .mosi(mosi), .miso(miso),
        .value0(value0), .value1(value1), .value2(value2), .match(match), .all_match(all_match));
    spi_flash flash0 (.sck(sck[0]), .csn(csn[0]), .mosi(mosi[0]), .miso(miso[0]));
    spi_flash flash1 (.sck(sck[1]), .csn(csn[1]), .mosi(mosi[1]), .miso(miso[1]));
    spi_flash flash2 (.sck(sck[2]), .csn(csn[2]), .mosi(mosi[2]), .miso(miso[2]));

    always #20 clk = ~clk;

    initial begin
        #1;
        flash0.store[0] = 8'ha1;
        flash1.store[16'h1234] = 8'hb2;
        flash2.store[16'hffff] = 8'hc3;
        repeat (10) @(posedge clk);
        reset_n <= 1;
        repeat (390) @(posedge clk);
        $display("%h %h %h match %b all %b", value0, value1, value2, match, all_match);
        $finish;
    end
endmodule

// expect: a1 b2 c3 match 111 all 1
