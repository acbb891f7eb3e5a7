import { type Command, type Input, textOf, textsOf } from '../command.ts';
import { exitCodes, RefusedError, UsageError } from '../failure.ts';
import { escapeLine } from '../output/escape.ts';
import { isForPeople, printAnswer, write } from '../output/print.ts';
import { connect } from '../profile/connect.ts';
import { openLines } from '../prompt.ts';
import type { Terminal } from '../terminal.ts';
import { carryOut } from './carry-out.ts';
import type { Step } from './in-order.ts';
import { type MadeRecord, readMade } from './made.ts';
import { planSteps } from './plan.ts';
import { isOfReactors, readExisting } from './read-existing.ts';
import { type Kind, kinds, nouns, ofEachKind, readWanted, type Wanted } from './wanted.ts';

const fileOptions = {
  file: {
    type: 'string',
    short: 'f',
    value: 'FILE',
    description: 'YAML or JSON file with lists of applications, proxies, reactor_formulas and reactors',
  },
  env: {
    type: 'string',
    multiple: true,
    value: 'NAME',
    description: 'name of an environment variable that the file may use; can be repeated',
  },
  prune: {
    type: 'boolean',
    description: 'delete what an earlier apply of this file created, if the file no longer contains it',
  },
} as const;

const notes = `Each item of a list has the fields of the request that creates it. Each name must be unique in its list.
{ name: backend } is a reference by name. A Proxy or a reactor can refer to its Application in this way, and a reactor also
to its formula.
{ $file: code.js } stands for the text of a file. The file must be in the folder of FILE or in a folder below it.
{ $env: NAME } stands for the text of an environment variable. The option --env must allow the variable.
{ $env: NAME, type: number } stands for a number. { $env: NAME, type: boolean } stands for a boolean.
FILE.applied.json, beside FILE, records what was created. Keep it with FILE.`;

export const diff: Command = {
  words: ['diff'],
  summary: 'Show the changes that apply would make (application:read, proxy:read; for reactors also reactor:read)',
  arguments: [],
  options: fileOptions,
  notes,
  async run(input, terminal) {
    const { steps, wanted } = await prepare(input, terminal);
    await showPlan(steps, wanted, input, terminal);
    return undefined;
  },
};

export const apply: Command = {
  words: ['apply'],
  summary: 'Create and change Applications, Proxies and reactors as a file describes; shows the plan first',
  arguments: [],
  options: {
    ...fileOptions,
    yes: { type: 'boolean', short: 'y', description: 'do not ask for confirmation; required without a terminal' },
    keys: {
      type: 'string',
      value: 'FILE',
      description: 'write the keys of new Applications to this new file, which only you can read',
    },
  },
  notes,
  async run(input, terminal) {
    const { steps, wanted, ...means } = await prepare(input, terminal);
    await showPlan(steps, wanted, input, terminal);
    const due = steps.filter(({ action }) => action !== 'keep' && (action !== 'delete' || input.values.prune === true));
    if (due.length === 0) return exitCodes.done;
    if (input.values.yes !== true && !(await isAgreed(terminal))) throw new RefusedError('Nothing was done.');
    await carryOut(due, { ...means, keysFile: textOf(input, 'keys'), terminal });
    return exitCodes.done;
  },
};

async function prepare(input: Input, terminal: Terminal) {
  const file = textOf(input, 'file');
  if (file === undefined) throw new UsageError('The file is missing. Give -f FILE');
  const wanted = await readWanted(file, terminal.env, textsOf(input, 'env'));
  const sluice = await connect(terminal, { keyTypes: ['management'], profile: textOf(input, 'profile') });
  const { tenant_id } = await sluice.applications.getByKey({ signal: terminal.signal });
  const record: MadeRecord = await readMade(file, tenant_id);
  const isUsed = (kind: Kind) => wanted.lists[kind].length > 0 || Object.keys(record.made[kind]).length > 0;
  const usesReactors = kinds.some((kind) => isOfReactors(kind) && isUsed(kind));
  const read = kinds.filter((kind) => usesReactors || !isOfReactors(kind));
  const existing = await readExisting(sluice, read, terminal.signal);
  const ids = ofEachKind((kind) => new Map(existing[kind].map(({ name, id }) => [name, id])));
  return { wanted, sluice, record, ids, steps: planSteps(wanted, existing, record.made) };
}

const signs = { create: '+', update: '~', delete: '-', keep: '=' } as const;

async function showPlan(
  steps: readonly Step[],
  { references }: Wanted,
  input: Input,
  terminal: Terminal,
): Promise<void> {
  const isPruning = input.values.prune === true;
  if (!isForPeople(terminal, input.values.json === true)) {
    const plan = steps.map(({ action, kind, name, id, changes }) => {
      return { action: action === 'delete' && !isPruning ? 'leave' : action, kind, name, ...(id && { id }), changes };
    });
    return printAnswer(terminal, { plan, files: [...references.files], variables: [...references.variables] }, true);
  }
  const lines = steps.filter(({ action }) => action !== 'keep').map((step) => lineOf(step, isPruning));
  const kept = steps.filter(({ action }) => action === 'keep').length;
  const reads = [
    ...[...references.files].map((name) => `  reads the file ${escapeLine(name)}`),
    ...[...references.variables].map((name) => `  reads the variable ${escapeLine(name)}`),
  ];
  await write(terminal.stdout, `${[...lines, ...reads, `${kept} unchanged`].join('\n')}\n`);
}

function lineOf({ action, kind, name, changes }: Step, isPruning: boolean): string {
  const what = `${nouns[kind]} ${escapeLine(name)}`;
  if (action === 'delete' && !isPruning) return `? ${what}: no longer in the file; --prune deletes it`;
  return `${signs[action]} ${what}${changes.map((change) => `\n    ${escapeLine(change)}`).join('')}`;
}

async function isAgreed(terminal: Terminal): Promise<boolean> {
  if (terminal.stdin.isTTY !== true)
    throw new UsageError('Nothing was done, because there is no terminal to ask for confirmation. Add --yes.');
  const lines = openLines(terminal);
  try {
    return /^y(es)?$/i.test((await lines.next('Apply? [y/N] ')).trim());
  } finally {
    lines.close();
  }
}
