/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_completion.c - the completions for bash, zsh and fish, made from the table of options.c.
 */
#include <stdio.h>
#include <string.h>

#include "main/options.h"
#include "main/pages.h"

static bool takes_file(const char *value) { return value && strstr(value, "FILE") != NULL; }

static bool takes_files(const cli_verb *verb) {
  return takes_file(verb->args) || strstr(verb->args, "BEFORE") != NULL;
}

/* Each option of a list through `print`. */
static void each_option(const cli_option *option, void (*print)(const cli_option *)) {
  for (; option->name; option++) print(option);
}

static void bash_option(const cli_option *option) {
  printf(" --%s%s", option->name, option->value ? "=" : "");
  if (option->letter) printf(" -%c", option->letter);
}

static void bash_value(const cli_option *option) {
  if (!option->value) return;
  printf("    --%s)", option->name);
  if (strchr(option->value, '|')) {
    fputs(" COMPREPLY=($(compgen -W '", stdout);
    for (const char *c = option->value; *c; c++) putchar(*c == '|' ? ' ' : *c);
    fputs("' -- \"$word\"))", stdout);
  } else if (takes_file(option->value)) {
    fputs(" COMPREPLY=($(compgen -f -- \"$word\"))", stdout);
  }
  fputs("\n      return ;;\n", stdout);
}

static void bash_completion(const cli_verb *verbs) {
  fputs("# bash completion for tesela\n_tesela() {\n"
        "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} verb= i\n"
        "  # `--option=value` comes as three words\n"
        "  if [[ $word == = ]]; then word=; elif [[ $before == = ]]; then "
        "before=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
        "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
        "    if [[ ${COMP_WORDS[i]} != -* ]]; then verb=${COMP_WORDS[i]}; break; fi\n"
        "  done\n"
        "  case $before in\n",
        stdout);
  each_option(cli_common_options, bash_value);
  for (const cli_verb *verb = verbs; verb->name; verb++) each_option(verb->options, bash_value);
  fputs("  esac\n  case $verb in\n    '')\n      COMPREPLY=($(compgen -W '", stdout);
  for (const cli_verb *verb = verbs; verb->name; verb++) printf("%s ", verb->name);
  fputs("--help --version' -- \"$word\"))\n      return ;;\n", stdout);
  for (const cli_verb *verb = verbs; verb->name; verb++) {
    printf("    %s) set --", verb->name);
    each_option(verb->options, bash_option);
    puts(" ;;");
  }
  fputs("    *) set -- ;;\n  esac\n  if [[ $word == -* ]]; then\n    set -- \"$@\"", stdout);
  each_option(cli_common_options, bash_option);
  fputs(
      "\n    COMPREPLY=($(compgen -W \"$*\" -- \"$word\"))\n"
      "    if [[ ${COMPREPLY[0]-} == *= ]]; then compopt -o nospace; fi\n    return\n  fi\n  case $verb in\n",
      stdout);
  for (const cli_verb *verb = verbs; verb->name; verb++)
    if (takes_files(verb)) printf("    %s) COMPREPLY=($(compgen -f -- \"$word\")) ;;\n", verb->name);
  fputs("    help) COMPREPLY=($(compgen -W '", stdout);
  for (const cli_verb *verb = verbs; verb->name; verb++) printf("%s ", verb->name);
  fputs("' -- \"$word\")) ;;\n  esac\n}\ncomplete -F _tesela tesela\n", stdout);
}

/* Text inside single quotes of zsh; characters that are special to _arguments are escaped. */
static void zsh_text(const char *text) {
  for (; *text; text++) {
    if (*text == '\'')
      fputs("'\\''", stdout);
    else if (strchr("[]:\\", *text))
      printf("\\%c", *text);
    else
      putchar(*text);
  }
}

static void zsh_option(const cli_option *option) {
  for (int letter = 0; letter < (option->letter ? 2 : 1); letter++) {
    fputs(" \\\n          '", stdout);
    if (letter)
      printf("-%c%s", option->letter, option->value ? "+" : "");
    else
      printf("--%s%s", option->name, option->value ? "=" : "");
    putchar('[');
    zsh_text(option->summary);
    putchar(']');
    if (option->value && strchr(option->value, '|')) {
      printf(":%s:(", option->name);
      for (const char *c = option->value; *c; c++) putchar(*c == '|' ? ' ' : *c);
      putchar(')');
    } else if (option->value) {
      printf(":%s:%s", option->value, takes_file(option->value) ? "_files" : "");
    }
    putchar('\'');
  }
}

static void zsh_completion(const cli_verb *verbs) {
  fputs("#compdef tesela\n# zsh completion for tesela\n_tesela() {\n  local -a verbs\n  verbs=(\n", stdout);
  for (const cli_verb *verb = verbs; verb->name; verb++) {
    printf("    '%s:", verb->name);
    zsh_text(verb->summary);
    puts("'");
  }
  fputs("  )\n  if (( CURRENT == 2 )); then\n    _describe verb verbs\n    return\n  fi\n"
        "  local verb=$words[2]\n  shift words\n  (( CURRENT-- ))\n  case $verb in\n",
        stdout);
  for (const cli_verb *verb = verbs; verb->name; verb++) {
    printf("    %s)\n      _arguments -s", verb->name);
    each_option(verb->options, zsh_option);
    each_option(cli_common_options, zsh_option);
    if (takes_files(verb)) fputs(" \\\n          '*:file:_files'", stdout);
    if (strcmp(verb->name, "help") == 0) fputs(" \\\n          '1:verb:{_describe verb verbs}'", stdout);
    puts(" ;;");
  }
  fputs("  esac\n}\n_tesela \"$@\"\n", stdout);
}

static const char *fish_verb; /* the verb whose options are printed; NULL: all verbs */

static void fish_text(const char *text) {
  for (; *text; text++) {
    if (*text == '\'' || *text == '\\') putchar('\\');
    putchar(*text);
  }
}

static void fish_option(const cli_option *option) {
  fputs("complete -c tesela", stdout);
  if (fish_verb) printf(" -n '__fish_seen_subcommand_from %s'", fish_verb);
  printf(" -l %s", option->name);
  if (option->letter) printf(" -s %c", option->letter);
  if (option->value && strchr(option->value, '|')) {
    fputs(" -x -a '", stdout);
    for (const char *c = option->value; *c; c++) putchar(*c == '|' ? ' ' : *c);
    putchar('\'');
  } else if (option->value) {
    fputs(takes_file(option->value) ? " -r -F" : " -x", stdout);
  }
  fputs(" -d '", stdout);
  fish_text(option->summary);
  puts("'");
}

static void fish_completion(const cli_verb *verbs) {
  fputs("# fish completion for tesela\ncomplete -c tesela -f\n", stdout);
  for (const cli_verb *verb = verbs; verb->name; verb++) {
    printf("complete -c tesela -n __fish_use_subcommand -a %s -d '", verb->name);
    fish_text(verb->summary);
    puts("'");
    if (takes_files(verb)) printf("complete -c tesela -n '__fish_seen_subcommand_from %s' -F\n", verb->name);
    fish_verb = verb->name;
    each_option(verb->options, fish_option);
  }
  fish_verb = NULL;
  each_option(cli_common_options, fish_option);
  fputs("complete -c tesela -n '__fish_seen_subcommand_from help' -a '", stdout);
  for (const cli_verb *verb = verbs; verb->name; verb++) printf("%s ", verb->name);
  puts("'");
}

void pages_completion(const cli_verb *verbs, const char *shell) {
  if (strcmp(shell, "bash") == 0)
    bash_completion(verbs);
  else if (strcmp(shell, "zsh") == 0)
    zsh_completion(verbs);
  else
    fish_completion(verbs);
}
