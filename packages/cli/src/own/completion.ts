import { type Command, commonOptions, type Option } from '../command.ts';
import { UsageError } from '../failure.ts';
import { write } from '../output/print.ts';

/** Each asks the program itself, so that completions match the installed version. */
const scripts: Readonly<Record<string, string>> = {
  bash: `_sluice() {
  local IFS=$'\\n'
  COMPREPLY=($(compgen -W "$(sluice complete -- "\${COMP_WORDS[@]:1:COMP_CWORD-1}" 2>/dev/null)" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _sluice sluice
`,
  zsh: `#compdef sluice
_sluice() {
  local -a offered
  offered=(\${(f)"$(sluice complete -- "\${(@)words[2,CURRENT-1]}" 2>/dev/null)"})
  compadd -a offered || _files
}
compdef _sluice sluice
`,
  fish: `complete -c sluice -a '(sluice complete -- (commandline -opc)[2..] 2>/dev/null)'
`,
};

export const completion: Command = {
  words: ['completion'],
  summary: 'Print the completion script of a shell: bash, zsh or fish',
  arguments: ['SHELL'],
  options: {},
  notes:
    'bash: source <(sluice completion bash)   zsh: source <(sluice completion zsh)   fish: sluice completion fish | source',
  async run({ positionals }, { stdout }) {
    const [shell = ''] = positionals;
    const script = Object.hasOwn(scripts, shell) ? scripts[shell] : undefined;
    if (!script) throw new UsageError('The shell must be bash, zsh or fish');
    await write(stdout, script);
    return undefined;
  },
};

/** Empty after an option that takes a value, so that the shell offers files. */
export function completions(commands: readonly Command[], typed: readonly string[]): string[] {
  const words = typed.filter((word) => !word.startsWith('-'));
  const command = commands
    .filter((one) => one.words.every((word, index) => words[index] === word))
    .sort((a, b) => b.words.length - a.words.length)[0];
  const options = Object.entries<Option>({ ...command?.options, ...commonOptions });
  const last = typed.at(-1) ?? '';
  const isOfLast = ([name, { short }]: [string, Option]) => last === `--${name}` || (short && last === `-${short}`);
  if (options.some((option) => isOfLast(option) && option[1].type === 'string')) return [];
  const names = options.map(([name]) => `--${name}`);
  if (command) return names;
  const next = commands
    .filter((one) => words.every((word, index) => one.words[index] === word))
    .flatMap((one) => one.words[words.length] ?? []);
  return [...new Set(next)].sort();
}
