// SPDX-License-Identifier: Apache-2.0
`timescale 1ns / 1ps

module bench;
    reg tck = 0, tms = 1, tdi = 0, trst_n = 1;
    wire tdo, tdo_enable;
    wire [31:0] data;
    wire [3:0] instruction, state;
    reg [63:0] out;

    jtag dut (.tck(tck), .tms(tms), .tdi(tdi), .trst_n(trst_n), .tdo(tdo),
        .tdo_enable(tdo_enable), .data(data), .instruction(instruction), .state(state));

    task clock(input mode, input value);
        begin
            tms = mode;
            tdi = value;
            #10 tck = 1;
            #10 tck = 0;
        end
    endtask

    // From Run-Test/Idle and back to it; `out` gets what came out, from the left.
    task shift(input ir, input [63:0] value, input integer count);
        integer i;
        begin
            clock(1, 0);
            if (ir)
                clock(1, 0);
            clock(0, 0);
            clock(0, 0);
            out = 64'd0;
            for (i = 0; i < count; i = i + 1) begin
                #1 out[i] = tdo_enable ? tdo : 1'bx;
                clock(i == count - 1, value[i]);
            end
            clock(1, 0);
            clock(0, 0);
        end
    endtask

    initial begin
        #5 trst_n = 0;
        #5 trst_n = 1;
        clock(0, 0);
        shift(0, 64'd0, 32);
        $display("idcode %h", out[31:0]);
        shift(1, 64'hf, 4);
        $display("captured instruction %b", out[3:0]);
        shift(0, 64'hb5, 9);
        $display("bypass %h", out[8:0]);
        shift(1, 64'h2, 4);
        shift(0, 64'hcafebabe, 32);
        $display("data %h", data);
        shift(0, 64'h12345678, 32);
        $display("was %h is %h", out[31:0], data);
        repeat (5) clock(1, 0);
        clock(0, 0);
        $display("instruction %b state %0d", instruction, state);
        $finish;
    end
endmodule

// expect: idcode 1c0de001
// expect: captured instruction 0101
// expect: bypass 16a
// expect: data cafebabe
// expect: was cafebabe is 12345678
// expect: instruction 0001 state 1
