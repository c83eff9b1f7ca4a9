// SPDX-License-Identifier: Apache-2.0
`timescale 1ns / 1ps

module bench;
    reg clk = 0, reset = 1, write0 = 0, write1 = 0, read_enable = 1;
    reg [7:0] address0 = 0, address1 = 0;
    reg [3:0] byte_mask = 4'hf;
    reg [31:0] data0 = 0, data1 = 0;
    wire [31:0] by_bytes, newest, at_once;
    wire [15:0] first, second;
    wire [7:0] constant;
    wire [12:0] odd;

    memory dut (.clk(clk), .reset(reset), .address0(address0), .address1(address1),
        .write0(write0), .write1(write1), .byte_mask(byte_mask), .read_enable(read_enable),
        .data0(data0), .data1(data1), .by_bytes(by_bytes), .newest(newest), .at_once(at_once),
        .first(first), .second(second), .constant(constant), .odd(odd));

    task cycle;
        begin
            #10 clk = 1;
            #10 clk = 0;
            $display("bytes %h newest %h at_once %h pair %h %h table %h odd %h", by_bytes, newest,
                at_once, first, second, constant, odd);
        end
    endtask

    initial begin
        cycle;
        reset = 0;
        address0 = 5;
        address1 = 5;
        cycle;                              // what they start with
        write0 = 1;
        write1 = 1;
        data0 = 32'h11223344;
        data1 = 32'haabbccdd;
        cycle;                              // collisions: the old word, and the newest
        write0 = 0;
        write1 = 0;
        cycle;                              // what was written: the second port won
        write0 = 1;
        byte_mask = 4'b0110;
        data0 = 32'h99887766;
        cycle;
        write0 = 0;
        read_enable = 0;
        address0 = 8'd17;
        cycle;                              // held
        read_enable = 1;
        address0 = 5;
        address1 = 8'd100;                  // beyond the odd memory
        cycle;
        $finish;
    end
endmodule

// expect: bytes 00000000 newest 00000000 at_once 00000000 pair 0000 0000 table 00 odd 0000
// expect: bytes 00000000 newest 05050505 at_once 05050505 pair fffa fffa table 00 odd 0000
// expect: bytes 00000000 newest aabbccdd at_once aabbccdd pair fffa fffa table 00 odd 0000
// expect: bytes 11223344 newest aabbccdd at_once aabbccdd pair ccdd ccdd table 00 odd 1344
// expect: bytes 11223344 newest aabbccdd at_once aabbccdd pair ccdd ccdd table 00 odd 1344
// expect: bytes 11223344 newest 11111111 at_once a8b9cedf pair fffe 7766 table c8 odd 1766
// expect: bytes 11887744 newest aabbccdd at_once 04040404 pair 7766 fffb table 15 odd 0000
