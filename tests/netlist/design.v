// SPDX-License-Identifier: Apache-2.0
// What test_yosys.py reads in word-level and gate-level form, hierarchical and flat: operators,
// registers of all kinds that Verilog describes, memories, tri-states, aliases across ports.
module operators #(parameter W = 5) (
    input signed [W-1:0] a, input signed [W-1:0] b, input [2:0] n, output [W-1:0] y, output [7:0] flags);
  wire [W-1:0] u = a;
  assign y = n == 0 ? a + b : n == 1 ? a - b : n == 2 ? a * b : n == 3 ? a >>> n[1:0]
           : n == 4 ? u << n : n == 5 ? a / 4'sd3 : n == 6 ? u % 3'd5 : {W{a[n]}};
  assign flags = {a < b, u <= b, a == b, a != b, &a, |a, ^a, !a && b || a};
endmodule

module registers (
    input clk, input rst, input en, input [3:0] d, output [3:0] q0, output reg [3:0] q1,
    output reg [3:0] q2, output reg [3:0] q3, output reg [3:0] q4, output reg [3:0] q5);
  reg [3:0] kept = 4'b1x01;
  assign q0 = kept;
  always @(posedge clk) if (en) kept <= d;
  always @(negedge clk or posedge rst) if (rst) q1 <= 4'b1001; else q1 <= d;
  always @(posedge clk) if (rst) q2 <= 4'd3; else if (en) q2 <= d;
  always @(posedge clk) if (en) begin if (rst) q3 <= 4'd5; else q3 <= d; end
  always @(*) if (en) q4 = d;
  always @(posedge clk or negedge rst) if (!rst) q5 <= 4'd6; else if (en) q5 <= d;
endmodule

module memories (
    input clk, input we, input [4:0] wa, input [4:0] ra, input [7:0] wd, output [7:0] r0,
    output reg [7:0] r1, output [7:0] rom);
  reg [7:0] ram [3:26];
  reg [7:0] table_ [0:31];
  integer i;
  initial for (i = 0; i < 20; i = i + 1) table_[i] = i * 7;
  initial ram[4] = 8'h5a;
  assign r0 = ram[ra];
  assign rom = table_[ra];
  always @(posedge clk) begin
    if (we) ram[wa] <= wd;
    if (we && wa[0]) ram[wa ^ 1] <= wd + 1;
    r1 <= ram[ra];
  end
endmodule

module pass (input [3:0] in, output [3:0] out, output tied, output loose, inout pad, input drive);
  assign out = in;
  assign tied = 1'b1;
  assign pad = drive ? in[0] : 1'bz;
endmodule

module top (
    input clk, input rst, input [0:4] \a+b[1] , input signed [9:5] b, input [2:0] n,
    output [4:0] y, output [7:0] flags, output [3:0] q0, q1, q2, q3, q4, q5, output [7:0] r0, r1, rom,
    inout pad, output [3:0] through, output t0, t1);
  wire [3:0] mid;
  operators ops (.a(\a+b[1] ), .b(b), .n(n), .y(y), .flags(flags));
  registers regs (.clk(clk), .rst(rst), .en(t0), .d(mid), .q0(q0), .q1(q1), .q2(q2), .q3(q3), .q4(q4),
                  .q5(q5));
  memories mems (.clk(clk), .we(n[0]), .wa(\a+b[1] ), .ra(b), .wd({q1, q0}), .r0(r0), .r1(r1), .rom(rom));
  pass p0 (.in(y[3:0]), .out(mid), .tied(t0), .loose(t1), .pad(pad), .drive(n[1]));
  pass p1 (.in({2'b01, mid[1:0]}), .out(through), .drive(1'b0));
endmodule
