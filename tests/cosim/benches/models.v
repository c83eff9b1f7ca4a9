// SPDX-License-Identifier: Apache-2.0
//
// What stands around the example designs in the test benches: SPI flash, and both ends of a UART.
`default_nettype none
`timescale 1ns / 1ps

// SPI flash that knows the read command (0x03): takes bits when sck rises, gives them when it falls.
module spi_flash #(
    parameter SIZE = 65536
) (
    input  wire sck,
    input  wire csn,
    input  wire mosi,
    output reg  miso
);
    reg [7:0]  store [0:SIZE - 1];
    reg [31:0] command;             // command and address
    integer    in_count, out_count; // bits
    reg [23:0] address;
    integer    i;

    initial begin
        for (i = 0; i < SIZE; i = i + 1)
            store[i] = 8'hff;
        miso = 1'b1;
    end

    always @(negedge csn) begin
        in_count = 0;
        out_count = 0;
    end

    always @(posedge sck)
        if (!csn && in_count < 32) begin
            command = {command[30:0], mosi};
            in_count = in_count + 1;
        end

    always @(negedge sck)
        if (!csn && in_count == 32 && command[31:24] == 8'h03) begin
            address = command[23:0] + out_count / 8;
            miso = address < SIZE ? store[address][7 - out_count % 8] : 1'b1;
            out_count = out_count + 1;
        end
endmodule

// Prints what a UART sends, and keeps the last byte.
module uart_listener #(
    parameter CYCLES_PER_BIT = 8,
    parameter NAME = "uart",
    parameter QUIET = 0
) (
    input wire clk,
    input wire line
);
    reg [7:0] value;
    integer   bits, received;

    initial
        received = 0;

    always begin
        @(negedge line);
        repeat (CYCLES_PER_BIT / 2) @(posedge clk);
        #1;
        if (!line) begin
            for (bits = 0; bits < 8; bits = bits + 1) begin
                repeat (CYCLES_PER_BIT) @(posedge clk);
                #1 value = {line, value[7:1]};
            end
            repeat (CYCLES_PER_BIT) @(posedge clk);
            #1;
            if (!line)
                $display("%0s: no stop bit", NAME);
            else if (QUIET)
                $write("%c", value);
            else
                $display("%0s: %c", NAME, value);
            received = received + 1;
        end
    end
endmodule
