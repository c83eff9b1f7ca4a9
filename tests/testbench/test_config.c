/* SPDX-License-Identifier: Apache-2.0 */
/* The configuration: all fields, defaults, what is warned of, and for each fault the place in its
 * message. */
#include "../base/cmocka_all.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "testbench/config.h"

static void note(void *context, const char *message)
{
    ls__strbuf_printf(context, "%s\n", message);
}

static ls__config_file *read_good(const char *text)
{
    ls__config_file *file;
    ls_error error = {0};
    if (ls__config_read(text, strlen(text), "c.json", NULL, NULL, &file, &error) != LS_OK)
        fail_msg("%s", error.message);
    return file;
}

static void every_field(void **state)
{
    ls__config_file *file = read_good(
        "{\"netlist_path\": \"n.json\", \"top\": \"soc\", \"clock_gpio\": 3, \"reset\": \"rst_n\","
        " \"reset_active_high\": false, \"reset_cycles\": 10, \"num_cycles\": 2000,"
        " \"clock_period_ps\": 40000, \"_comment\": [1],"
        " \"port_mapping\": {\"inputs\": {\"3\": \"clk\", \"7\": \"d[1]\"},"
        "                    \"outputs\": {\"3\": \"tx\"}},"
        " \"constant_inputs\": {\"7\": 1}, \"constant_ports\": {\"mode\": \"0xff\", \"on\": true},"
        " \"clocks\": [{\"signal\": \"clk\", \"period_ps\": 40000, \"phase_offset_ps\": 5000,"
        "               \"high_ps\": 10000},"
        "              {\"net\": \"half\", \"derived_from\": \"clk\", \"divide_by\": 2}],"
        " \"flash\": {\"clk_gpio\": 1, \"csn_gpio\": 2, \"d0_gpio\": 4, \"firmware\": \"f.bin\","
        "             \"firmware_offset\": 1048576},"
        " \"qspi_memory\": [{\"name\": \"ram\", \"clk\": \"sck\", \"csn\": \"cs\","
        "   \"d\": [\"mosi\"], \"q\": [null, \"miso\"], \"writable\": true,"
        "   \"enter_qpi_cmd\": 53}],"
        " \"uarts\": [{\"tx_gpio\": 3, \"baud_rate\": 115200},"
        "             {\"name\": \"debug\", \"rx\": \"in\", \"cycles_per_bit\": 8,"
        "              \"parity\": \"even\", \"data_bits\": 7, \"stop_bits\": 2}],"
        " \"gpios\": [{\"name\": \"leds\", \"pins\": [7, 8], \"watch\": [\"out[0]\"]}],"
        " \"jtag\": {\"tck\": \"tck\", \"tms\": \"tms\", \"tdi_gpio\": 9},"
        " \"bus_traces\": [{\"protocol\": \"apb3\", \"prefix\": \"p_\","
        "                   \"signals\": {\"psel\": \"sel\"}}],"
        " \"peripherals\": [{\"name\": \"b\", \"type\": \"blink\", \"source\": \"b.kc\","
        "   \"pins\": {\"led\": \"led\", \"off\": 0}, \"parameters\": {\"rate\": 4},"
        "   \"memory_words\": 16, \"events\": {\"1\": \"on\"}}],"
        " \"memories\": [{\"name\": \"cpu.ram\", \"file\": \"r.hex\", \"format\": \"hex\"}],"
        " \"reg_init\": [{\"name\": \"count\", \"value\": 5, \"width\": 4}],"
        " \"sram_init\": {\"elf_path\": \"s.elf\"}, \"output_events\": \"e.json\","
        " \"events_reference\": \"r.json\", \"input_commands\": \"i.json\","
        " \"stop_on_assert\": true, \"reset_gpio\": null}");
    const ls__config *c = ls__config_of(file);
    assert_string_equal(c->netlist_path, "n.json");
    assert_string_equal(c->top, "soc");
    assert_int_equal(c->clock.gpio, 3);
    assert_string_equal(c->reset.signal, "rst_n");
    assert_int_equal(c->reset.gpio, -1);
    assert_int_equal(c->reset_cycles, 10);
    assert_int_equal(c->input_count, 2);
    assert_string_equal(c->inputs[1].port, "d[1]");
    assert_int_equal(c->constant_count, 3);
    assert_int_equal(c->constants[0].pin.gpio, 7);
    assert_int_equal(c->constants[1].value, 255);
    assert_int_equal(c->constants[2].value, 1);
    assert_int_equal(c->clock_count, 1); /* a derived one is the design's */
    assert_int_equal(c->clocks[0].high_ps, 10000);
    assert_int_equal(c->flash_count, 2);
    assert_string_equal(c->flashes[0].name, "flash_0");
    assert_int_equal(c->flashes[0].firmware_offset, 1048576);
    assert_int_equal(c->flashes[0].size_bytes, 16777216);
    assert_null(c->flashes[1].q[0]);
    assert_string_equal(c->flashes[1].q[1], "miso");
    assert_int_equal(c->flashes[1].enter_qpi_cmd, 53);
    assert_int_equal(c->uart_count, 2);
    assert_string_equal(c->uarts[0].name, "uart_0");
    assert_int_equal(c->uarts[0].data_bits, 8);
    assert_int_equal(c->uarts[0].rx.gpio, -1);
    assert_int_equal(c->uarts[1].parity, 2);
    assert_int_equal(c->gpios[0].pins[1].gpio, 8);
    assert_string_equal(c->gpios[0].watched[0].signal, "out[0]");
    assert_true(c->jtag.is_given && c->jtag.trst_active_low);
    assert_string_equal(c->buses[0].wires[0].signal, "sel");
    assert_string_equal(c->peripherals[0].source, "b.kc");
    assert_int_equal(c->peripherals[0].pin_count, 2);
    assert_null(c->peripherals[0].pins[1].signal);
    assert_int_equal(c->peripherals[0].parameters[0].value, 4);
    assert_string_equal(c->peripherals[0].events[0].name, "on");
    assert_string_equal(c->memories[0].format, "hex");
    assert_int_equal(c->registers[0].value, 5);
    assert_string_equal(c->sram_elf, "s.elf");
    assert_true(c->stop_on_assert);
    ls__config_destroy(&file);
    assert_null(file);
}

static void unknown_keys_are_warned_of(void **state)
{
    static const char text[] = "{\"clock\": \"c\", \"num_cycels\": 3, \"_note\": 1,"
                               " \"uarts\": [{\"baud_rate\": 9600, \"tx\": \"t\", \"colour\": 1}]}";
    ls__config_file *file;
    ls__strbuf out = {0};
    assert_int_equal(ls__config_read(text, sizeof text - 1, "c.json", note, &out, &file, NULL),
                     LS_OK);
    assert_string_equal(out.text, "c.json: .num_cycels is not known and ignored\n"
                                  "c.json: .uarts[0].colour is not known and ignored\n");
    ls__strbuf_finish(&out);
    ls__config_destroy(&file);
}

static void keys_without_effect_are_warned_of(void **state)
{
    static const char text[] = "{\"clocks\": [{\"signal\": \"c\", \"period_ps\": 2,"
                               "              \"jitter_ps\": 1}], \"signal_streams\": [{}, {}],"
                               " \"timing\": {\"clock_period_ps\": 1000}}";
    ls__config_file *file;
    ls__strbuf out = {0};
    assert_int_equal(ls__config_read(text, sizeof text - 1, "c.json", note, &out, &file, NULL),
                     LS_OK);
    assert_string_equal(out.text, "c.json: .signal_streams has no effect\n"
                                  "c.json: .timing has no effect\n");
    ls__strbuf_finish(&out);
    ls__config_destroy(&file);
}

static void note_file(void *context, const char *name)
{
    ls__strbuf_printf(context, "%s ", name);
}

static void files_are_all_visited(void **state)
{
    ls__config_file *file = read_good(
        "{\"clock\": \"c\", \"netlist_path\": \"n\", \"sram_init\": {\"elf_path\": \"s\"},"
        " \"events_reference\": \"r\", \"input_commands\": \"i\", \"output_events\": \"no\","
        " \"flash\": {\"clk_gpio\": 1, \"csn_gpio\": 2, \"d0_gpio\": 3, \"firmware\": \"f\"},"
        " \"jtag\": {\"tck\": \"k\", \"tms\": \"m\", \"tdi\": \"d\", \"replay\": \"j\"},"
        " \"memories\": [{\"name\": \"m\", \"file\": \"m\"}],"
        " \"peripherals\": [{\"type\": \"t\", \"source\": \"p\", \"image\": \"g\"}]}");
    ls__strbuf out = {0};
    ls__config_visit_files(ls__config_of(file), note_file, &out);
    assert_string_equal(out.text, "n s r i j f m p g ");
    ls__strbuf_finish(&out);
    ls__config_destroy(&file);
}

static void faults_name_their_place(void **state)
{
    static const struct {
        const char *text, *says;
    } faults[] = {
        {"{", "c.json:1:1: "},
        {"[]", "c.json: .: must be an object"},
        {"{}", "c.json: .: needs clock, clock_gpio or clocks"},
        {"{\"clock\": 3}", ".clock: must be text"},
        {"{\"clock_gpio\": -1}", ".clock_gpio: must be a number, not negative"},
        {"{\"clock_gpio\": 70000}", ".clock_gpio: must be at most 65535"},
        {"{\"clock\": \"c\", \"reset\": \"r\"}", ".reset_active_high: is missing"},
        {"{\"clock\": \"c\", \"reset\": \"r\", \"reset_active_high\": 1}",
         ".reset_active_high: must be true or false"},
        {"{\"clock\": \"c\", \"reset\": \"r\", \"reset_active_high\": true}",
         ".reset_cycles: is missing"},
        {"{\"clock\": \"c\", \"clock\": \"d\"}", "duplicate object key"},
        {"{\"clock\": \"c\", \"port_mapping\": {\"inputs\": {\"x\": \"y\"}}}",
         ".port_mapping.inputs.x: the key must be a number"},
        {"{\"clock\": \"c\", \"port_mapping\": {\"outputs\": {\"1\": 2}}}",
         ".port_mapping.outputs.1: must be text"},
        {"{\"clock\": \"c\", \"constant_ports\": {\"a\": \"b\"}}",
         ".constant_ports.a: must be a number"},
        {"{\"clock\": \"c\", \"clocks\": {}}", ".clocks: must be an array"},
        {"{\"clock\": \"c\", \"clocks\": [4]}", ".clocks[0]: must be an object"},
        {"{\"clocks\": [{\"signal\": \"c\"}]}", ".clocks[0].period_ps: is missing"},
        {"{\"clocks\": [{\"period_ps\": 4}]}", ".clocks[0]: needs signal or gpio"},
        {"{\"clocks\": [{\"signal\": \"c\", \"period_ps\": 4, \"high_ps\": 4}]}",
         ".clocks[0]: high_ps must be less than period_ps"},
        {"{\"clocks\": [{\"signal\": \"c\", \"period_ps\": 0}]}",
         ".clocks[0].period_ps: must be at least 2"},
        {"{\"clocks\": [{\"signal\": \"c\", \"period_ps\": 4, \"high_ps\": 0}]}",
         ".clocks[0].high_ps: must be at least 1"},
        {"{\"clock\": \"c\", \"clock_period_ps\": 0}", ".clock_period_ps: must be at least 2"},
        {"{\"clock\": \"c\", \"clock_period_ps\": -1}",
         ".clock_period_ps: must be a number, not negative"},
        {"{\"clock\": \"c\", \"uart\": {\"tx\": \"t\", \"baud_rate\": 0}}",
         ".uart.baud_rate: must be at least 1"},
        {"{\"clock\": \"c\", \"uarts\": [{\"tx\": \"t\", \"cycles_per_bit\": 0}]}",
         ".uarts[0].cycles_per_bit: must be at least 1"},
        {"{\"clock\": \"c\", \"uart\": {\"tx\": \"t\", \"baud_rate\": 1, \"data_bits\": 4}}",
         ".uart.data_bits: must be at least 5"},
        {"{\"clock\": \"c\", \"qspi_memory\": [{\"clk_gpio\": 1, \"csn_gpio\": 2, \"d0_gpio\": 3,"
         " \"size_bytes\": 0}]}",
         ".qspi_memory[0].size_bytes: must be at least 1"},
        {"{\"clock\": \"c\", \"flash\": {\"clk_gpio\": 1, \"csn_gpio\": 2, \"d0_gpio\": 3,"
         " \"pages\": 0}}",
         ".flash.pages: must be at least 1"},
        {"{\"clock\": \"c\", \"jtag\": {\"tck\": \"k\", \"tms\": \"m\", \"tdi\": \"i\","
         " \"hold_edges\": 0}}",
         ".jtag.hold_edges: must be at least 2"},
        {"{\"clock\": \"c\", \"uarts\": [{\"baud_rate\": 1}, {\"baud_rate\": \"fast\"}]}",
         ".uarts[1].baud_rate: must be a number"},
        {"{\"clock\": \"c\", \"uart\": {\"tx\": \"t\"}}",
         ".uart: needs baud_rate or cycles_per_bit"},
        {"{\"clock\": \"c\", \"uart\": {\"baud_rate\": 1, \"parity\": \"x\"}}",
         ".uart: parity must be none, odd or even"},
        {"{\"clock\": \"c\", \"flash\": {\"clk\": \"k\", \"csn\": \"s\"}}",
         ".flash: needs d0_gpio, or d and q"},
        {"{\"clock\": \"c\", \"flash\": {\"clk\": \"k\", \"csn\": \"s\", \"d\": [1]}}",
         ".flash.d[0]: must be text"},
        {"{\"clock\": \"c\", \"qspi_memory\": [{\"clk_gpio\": 1}]}",
         ".qspi_memory[0]: needs csn or csn_gpio"},
        {"{\"clock\": \"c\", \"bus_traces\": [{\"protocol\": \"axi\"}]}",
         ".bus_traces[0]: protocol must be apb3"},
        {"{\"clock\": \"c\", \"peripherals\": [{}]}", ".peripherals[0].type: is missing"},
        {"{\"clock\": \"c\", \"peripherals\": [{\"type\": \"t\", \"events\": {\"a\": \"b\"}}]}",
         ".peripherals[0].events.a: the key must be a number"},
        {"{\"clock\": \"c\", \"memories\": [{\"name\": \"m\"}]}", ".memories[0].file: is missing"},
        {"{\"clock\": \"c\", \"memories\": [{\"name\": \"m\", \"file\": \"f\", \"format\": "
         "\"x\"}]}",
         ".memories[0]: format must be hex, bits, raw or elf"},
        {"{\"clock\": \"c\", \"gpios\": [{\"pins\": [true, {}]}]}",
         ".gpios[0].pins[1]: must be a number"},
        {"{\"clock\": \"c\", \"jtag\": {\"tck\": \"k\"}}", ".jtag: needs tms or tms_gpio"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        ls__config_file *file;
        ls_error error = {0};
        assert_int_equal(ls__config_read(faults[i].text, strlen(faults[i].text), "c.json", NULL,
                                         NULL, &file, &error),
                         LS_E_FORMAT);
        assert_null(file);
        if (!strstr(error.message, faults[i].says))
            fail_msg("%s: %s", faults[i].text, error.message);
    }
}

static void memory_runs_out(void **state)
{
    static const char text[] = "{\"clock\": \"c\", \"uarts\": [{\"tx\": \"t\", \"baud_rate\": 1}],"
                               " \"peripherals\": [{\"type\": \"t\", \"pins\": {\"a\": \"b\"}}]}";
    ls_status status = LS_E_OUT_OF_MEMORY;
    for (uint64_t n = 1; status != LS_OK; n++) {
        ls__config_file *file;
        ls_error error = {0};
        ls__mem_fail_after(n);
        status = ls__config_read(text, sizeof text - 1, "c.json", NULL, NULL, &file, &error);
        ls__mem_fail_after(0);
        ls__config_destroy(&file);
        assert_true(status == LS_OK || status == LS_E_OUT_OF_MEMORY);
        assert_true(n < 100);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field),
        cmocka_unit_test(unknown_keys_are_warned_of),
        cmocka_unit_test(keys_without_effect_are_warned_of),
        cmocka_unit_test(files_are_all_visited),
        cmocka_unit_test(faults_name_their_place),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
