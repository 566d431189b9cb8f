"""Small chat templates in the manner of known families, each with the habits that matter here."""

from __future__ import annotations

CHATML = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
INVENTS_SYSTEM = (
    "{% if messages[0].role != 'system' %}<|im_start|>system\nYou are a very helpful machine made by somebody.<|im_end|>\n"
    "{% endif %}" + CHATML
)
NO_SYSTEM = """{{ bos_token }}
{%- if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}
{%- for message in messages %}
{%- if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('Roles must alternate') }}{% endif %}
{%- set role = 'model' if message['role'] == 'assistant' else message['role'] %}
{{- '<start_of_turn>' + role + '\\n' + message['content'] | trim + '<end_of_turn>\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<start_of_turn>model\\n' }}{% endif %}"""
STRICT = """{{ bos_token }}
{%- if messages[0].role == 'system' %}
    {%- set system_message = messages[0].content %}{%- set loop_messages = messages[1:] %}
{%- else %}{%- set loop_messages = messages %}{%- endif %}
{%- for message in loop_messages %}
    {%- if (message.role == 'user') != (loop.index0 % 2 == 0) %}{{- raise_exception('alternate!') }}{%- endif %}
    {%- if message.role == 'user' %}
        {%- if loop.last and system_message is defined %}
            {{- '[INST] ' + system_message + '\\n\\n' + message.content + '[/INST]' }}
        {%- else %}{{- '[INST] ' + message.content + '[/INST]' }}{%- endif %}
    {%- elif message.role == 'assistant' %}{{- ' ' + message.content | trim + eos_token }}
    {%- else %}{{- raise_exception('unknown role') }}{%- endif %}
{%- endfor %}"""
"""Puts the system text into the last question, so it moves with every turn."""
THINKS = """{%- set ns = namespace(system='') %}
{%- for message in messages %}{%- if message.role == 'system' %}{%- set ns.system = message.content %}{%- endif %}{%- endfor %}
{{- bos_token + ns.system }}
{%- for message in messages %}
    {%- if message.role == 'user' %}{{- '<|User|>' + message.content }}
    {%- elif message.role == 'assistant' %}
        {%- set content = message.content %}
        {%- if '</think>' in content %}{%- set content = content.split('</think>')[-1] %}{%- endif %}
        {{- '<|Assistant|>' + content + '<|end_of_sentence|>' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|Assistant|><think>\\n' }}{%- endif %}"""
"""Hoists every system text to the front, strips earlier thoughts, opens a thought for the reply."""
SWITCHES = (
    "{% for message in messages %}<|turn>{{ message.role }}\n{{ message.content | trim }}<turn|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|turn>model\n"
    "{% if not enable_thinking | default(false) %}<|channel>thought\n<channel|>{% endif %}{% endif %}"
)
PARTS = (
    "{% for message in messages %}<{{ message.role }}>"
    "{% for part in message.content %}{% if part.type == 'text' %}{{ part.text }}{% endif %}{% endfor %}</{{ message.role }}>"
    "{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}"
)
DEMANDS_USER = (
    "{% if messages | selectattr('role', 'equalto', 'user') | list | length == 0 %}{{ raise_exception('No user query') }}"
    "{% endif %}" + CHATML
)
FRIENDLY = {
    "chatml": CHATML,
    "invents system": INVENTS_SYSTEM,
    "no system": NO_SYSTEM,
    "strict": STRICT,
    "thinks": THINKS,
    "switches": SWITCHES,
    "parts": PARTS,
    "demands user": DEMANDS_USER,
}


def sixty_times(start: str, step: str, end: str = "") -> str:
    """A template that does something to `ns.x` again and again."""
    return "{% set ns = namespace(x=" + start + ") %}{% for i in range(60) %}" + step + "{% endfor %}" + end


HOSTILE = {
    "endless loop": "{% for a in range(9999) %}" * 3 + "{% endfor %}" * 3,
    "endless loop in a condition": "{% for a in range(9999) %}{% for b in range(9999) if 'a' == 'b' %}{% endfor %}{% endfor %}",
    "exploding macro": "{% macro m(n) %}{% if n > 0 %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(60) }}",
    "endless macro": "{% macro m(n) %}{{ m(n) }}{% endmacro %}{{ m(1) }}",
    "endless recursive loop": "{% for i in [1] recursive %}{{ loop([1]) }}{% endfor %}",
    "attribute escape": "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "attribute filter": "{{ messages[0] | attr('__class__') }}",
    "globals": "{{ range.__self__.filters }}{{ self.__init__.__globals__ }}",
    "giant text": "{{ 'a' * 10**10 }}",
    "giant power": "{{ 10**10**10 }}",
    "growing number": sixty_times("9", "{% set ns.x = ns.x * ns.x %}"),
    "doubling": sixty_times("'aaaa'", "{% set ns.x = ns.x + ns.x %}"),
    "doubling by tilde": sixty_times("'aaaa'", "{% set ns.x = ns.x ~ ns.x %}"),
    "doubling by block": sixty_times("'aaaa'", "{% set y %}{{ ns.x }}{{ ns.x }}{% endset %}{% set ns.x = y %}"),
    "doubling by replace": sixty_times("'aa'", "{% set ns.x = ns.x.replace('a', ns.x) %}"),
    "doubling by filter": sixty_times("'aa'", "{% set ns.x = ns.x | replace('a', ns.x) %}"),
    "nested lists": sixty_times("['a']", "{% set ns.x = [ns.x, ns.x] %}", "{{ ns.x }}"),
    "nested mappings": sixty_times("'a'", "{% set ns.x = {'a': ns.x, 'b': ns.x} %}", "{{ ns.x | tojson }}"),
    "padding": "{{ '{:9999999999}'.format(1) }}",
    "padding by percent": "{{ '%9999999999d' % 1 }}",
    "padding by method": "{{ 'a'.center(9999999999) }}",
    "padding by filter": "{{ 'a' | indent(9999999999) }}",
    "bytes": "{{ (1).to_bytes(9999999999, 'big') }}",
    "joined": "{{ range(9999) | join('a' * 8000) }}",
    "many copies": (
        "{% set x = 'a' * 7000000 %}{% for i in range(999) %}{% set y = [x, x, x, x, x] | map('upper') | list %}{% endfor %}"
    ),
    "constant text": "{% for i in range(9999) %}{% for j in range(9999) %}" + "x" * 50_000 + "{% endfor %}{% endfor %}",
    "huge range": "{{ range(10**9) | list }}",
    "include": "{% include '/etc/passwd' %}",
    "import": "{% import 'os' as os %}",
    "mutation": "{{ messages.clear() }}",
    "unsupported date format": "{{ strftime_now('%99999999Y') }}",
    "syntax error": "{% for %}",
    "deep brackets": "{{ " + "(" * 3000 + "1" + ")" * 3000 + " }}",
    "too long": "x" * 200_000,
    "empty": "",
    "silent": "{% for message in messages %}{% endfor %}",
    "always refuses": "{{ raise_exception('no') }}",
}
HERMES = """{%- if tools %}
    {{- '<|im_start|>system\\n' }}
    {%- if messages[0].role == 'system' %}{{- messages[0].content + '\\n\\n' }}{%- endif %}
    {{- '# Tools\\n\\n<tools>' }}
    {%- for tool in tools %}{{- '\\n' }}{{- tool | tojson }}{%- endfor %}
    {{- '\\n</tools>\\n\\nFor each call return a json object within <tool_call></tool_call>.<|im_end|>\\n' }}
{%- elif messages[0].role == 'system' %}
    {{- '<|im_start|>system\\n' + messages[0].content + '<|im_end|>\\n' }}
{%- endif %}
{%- for message in messages %}
    {%- if message.role == 'user' or (message.role == 'system' and not loop.first) %}
        {{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}
    {%- elif message.role == 'assistant' %}
        {{- '<|im_start|>assistant\\n' + message.content }}
        {%- if message.tool_calls %}
            {%- for call in message.tool_calls %}
                {%- if call.function %}{%- set call = call.function %}{%- endif %}
                {{- '<tool_call>\\n{"name": "' + call.name + '", "arguments": ' }}
                {{- call.arguments | tojson }}{{- '}\\n</tool_call>' }}
            {%- endfor %}
        {%- endif %}
        {{- '<|im_end|>\\n' }}
    {%- elif message.role == 'tool' %}
        {%- if loop.first or messages[loop.index0 - 1].role != 'tool' %}{{- '<|im_start|>user' }}{%- endif %}
        {{- '\\n<tool_response>\\n' + message.content + '\\n</tool_response>' }}
        {%- if loop.last or messages[loop.index0 + 1].role != 'tool' %}{{- '<|im_end|>\\n' }}{%- endif %}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}"""
"""Knows tools: tells of them at the front, encloses calls and results in tags."""
LATE_TOOLS = (
    "{% for message in messages %}"
    "{% if loop.last and tools %}[AVAILABLE_TOOLS]{{ tools | tojson }}[/AVAILABLE_TOOLS]{% endif %}"
    "{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
"""Tells of tools in front of the newest message, so that they move with every turn."""
