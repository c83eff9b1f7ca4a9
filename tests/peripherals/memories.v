// SPDX-License-Identifier: Apache-2.0
//
// Two PSRAMs on one bus: puts both into QPI mode, writes other bytes to each, and reads them back. `ok`
// stays 1 when what is read is what was written.
`default_nettype none

module memories (
    input  wire       clk,
    input  wire       reset_n,          // asynchronous
    output reg        sck,
    output reg        csn0,
    output reg        csn1,
    output reg  [3:0] d,
    input  wire [3:0] q,
    output reg        done,
    output reg        ok
);
    localparam SELECT = 3'd0, DESELECT = 3'd1, PUT1 = 3'd2, PUT4 = 3'd3, GET4 = 3'd4, END = 3'd5;

    reg [5:0]  step;
    reg [2:0]  bit_count;
    reg [1:0]  phase;
    reg [7:0]  shift;
    reg [10:0] code;                    // what to do, and a byte

    // Twelve steps a transfer; writing and reading are alike for both memories.
    wire [7:0] first = step >= 6'd38 || (step >= 6'd16 && step < 6'd26) ? 8'hb6 : 8'ha5;
    always @*
        case (step)
            6'd0:  code = {SELECT, 8'd0};
            6'd1:  code = {PUT1, 8'h35};
            6'd2:  code = {DESELECT, 8'd0};
            6'd3:  code = {SELECT, 8'd1};
            6'd4:  code = {PUT1, 8'h35};
            6'd5:  code = {DESELECT, 8'd0};
            // writes, across a page
            6'd6, 6'd16: code = {SELECT, step == 6'd6 ? 8'd0 : 8'd1};
            6'd7, 6'd17: code = {PUT4, 8'h38};
            6'd8, 6'd18: code = {PUT4, 8'h00};
            6'd9, 6'd19: code = {PUT4, 8'h03};
            6'd10, 6'd20: code = {PUT4, 8'hff};
            6'd11, 6'd21: code = {PUT4, first};
            6'd12, 6'd22: code = {PUT4, ~first};
            6'd13, 6'd23: code = {DESELECT, 8'd0};
            // reads
            6'd26, 6'd38: code = {SELECT, step == 6'd26 ? 8'd0 : 8'd1};
            6'd27, 6'd39: code = {PUT4, 8'heb};
            6'd28, 6'd40: code = {PUT4, 8'h00};
            6'd29, 6'd41: code = {PUT4, 8'h03};
            6'd30, 6'd42: code = {PUT4, 8'hff};
            6'd31, 6'd43, 6'd32, 6'd44, 6'd33, 6'd45: code = {PUT4, 8'h00};
            6'd34, 6'd46: code = {GET4, first};
            6'd35, 6'd47: code = {GET4, ~first};
            6'd36, 6'd48: code = {DESELECT, 8'd0};
            6'd49: code = {END, 8'd0};
            default: code = {DESELECT, 8'd0};
        endcase

    wire [7:0] byte_now = bit_count == 3'd0 ? code[7:0] : shift;
    wire       last = bit_count == (code[10:8] == PUT1 ? 3'd7 : 3'd1);

    always @(posedge clk or negedge reset_n)
        if (!reset_n) begin
            step <= 6'd0;
            bit_count <= 3'd0;
            phase <= 2'd0;
            shift <= 8'd0;
            sck <= 1'b0;
            csn0 <= 1'b1;
            csn1 <= 1'b1;
            d <= 4'd0;
            done <= 1'b0;
            ok <= 1'b1;
        end else begin
            phase <= phase + 2'd1;
            case (code[10:8])
                SELECT:
                    if (code[0])
                        csn1 <= 1'b0;
                    else
                        csn0 <= 1'b0;
                DESELECT: begin
                    csn0 <= 1'b1;
                    csn1 <= 1'b1;
                end
                PUT1, PUT4, GET4: begin
                    if (phase == 2'd0) begin
                        d <= code[10:8] == PUT1 ? {3'd0, byte_now[7]} : byte_now[7:4];
                        shift <= code[10:8] == PUT1 ? {byte_now[6:0], 1'b0} : {byte_now[3:0], 4'd0};
                    end
                    if (phase == 2'd1) begin
                        sck <= 1'b1;
                        if (code[10:8] == GET4 && q != d)
                            ok <= 1'b0;
                    end
                    if (phase == 2'd3) begin
                        sck <= 1'b0;
                        bit_count <= last ? 3'd0 : bit_count + 3'd1;
                    end
                end
                END: done <= 1'b1;
                default: ;
            endcase
            if (phase == 2'd3 && code[10:8] != END &&
                (code[10:8] == SELECT || code[10:8] == DESELECT || last))
                step <= step + 6'd1;
        end
endmodule
