// SPDX-License-Identifier: Apache-2.0
//
// Three independent readers of SPI flash. Each sends command 0x03 and a 24 bit address once after
// reset, takes one byte and compares it with the one it expects.
//
// SPI mode 0 at half the clock: data is put out when sck falls and taken when it rises.
`default_nettype none

module flash_reader #(
    parameter [23:0] ADDRESS = 24'd0,
    parameter [7:0]  EXPECTED = 8'd0
) (
    input  wire       clk,
    input  wire       reset_n,
    output reg        sck,
    output reg        csn,
    output wire       mosi,
    input  wire       miso,
    output reg  [7:0] value,
    output reg        done,
    output wire       match
);
    reg [31:0] out;
    reg [5:0]  left;    // bits still to come: 32 of command and address, 8 of data

    assign mosi = out[31];
    assign match = done & (value == EXPECTED);

    always @(posedge clk or negedge reset_n)
        if (!reset_n) begin
            sck <= 1'b0;
            csn <= 1'b1;
            out <= {8'h03, ADDRESS};
            left <= 6'd40;
            value <= 8'd0;
            done <= 1'b0;
        end else if (csn) begin
            if (!done)
                csn <= 1'b0;
        end else if (!sck) begin
            if (left == 6'd0) begin
                csn <= 1'b1;
                done <= 1'b1;
            end else begin
                sck <= 1'b1;
                value <= {value[6:0], miso};
            end
        end else begin
            sck <= 1'b0;
            out <= {out[30:0], 1'b0};
            left <= left - 6'd1;
        end
endmodule

module flash (
    input  wire       clk,
    input  wire       reset_n,
    output wire [2:0] sck,
    output wire [2:0] csn,
    output wire [2:0] mosi,
    input  wire [2:0] miso,
    output wire [7:0] value0,
    output wire [7:0] value1,
    output wire [7:0] value2,
    output wire [2:0] match,
    output wire       all_match
);
    wire [2:0] done;

    assign all_match = &match;

    flash_reader #(.ADDRESS(24'h000000), .EXPECTED(8'ha1)) reader0 (
        .clk(clk), .reset_n(reset_n), .sck(sck[0]), .csn(csn[0]), .mosi(mosi[0]), .miso(miso[0]),
        .value(value0), .done(done[0]), .match(match[0]));
    flash_reader #(.ADDRESS(24'h001234), .EXPECTED(8'hb2)) reader1 (
        .clk(clk), .reset_n(reset_n), .sck(sck[1]), .csn(csn[1]), .mosi(mosi[1]), .miso(miso[1]),
        .value(value1), .done(done[1]), .match(match[1]));
    flash_reader #(.ADDRESS(24'h00ffff), .EXPECTED(8'hc3)) reader2 (
        .clk(clk), .reset_n(reset_n), .sck(sck[2]), .csn(csn[2]), .mosi(mosi[2]), .miso(miso[2]),
        .value(value2), .done(done[2]), .match(match[2]));
endmodule
