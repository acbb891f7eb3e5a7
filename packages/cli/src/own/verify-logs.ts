import { type Finding, type VerifyFiles, verifyFiles } from '@sluice/ledger';
import { type Command, type Input, textOf, textsOf } from '../command.ts';
import { exitCodes, UsageError } from '../failure.ts';
import { isForPeople, printAnswer, write } from '../output/print.ts';

export const verifyLogs: Command = {
  words: ['logs', 'verify'],
  summary: 'Verify an export of the audit log against a signed checkpoint, from files alone',
  arguments: ['EXPORT'],
  options: {
    key: { type: 'string', value: 'FILE', description: 'public keys: what "sluice logs public-key" gave' },
    checkpoint: {
      type: 'string',
      value: 'FILE',
      description: 'a signed checkpoint: what "sluice logs checkpoint" gave',
    },
    since: { type: 'string', value: 'FILE', multiple: true, description: 'an older checkpoint, kept from before' },
    witness: { type: 'string', value: 'FILE', description: 'checkpoints that the worker gave to a witness' },
    dropped: {
      type: 'string',
      value: 'N',
      description: 'how many rows retention has dropped, where the newest checkpoint does not say it',
    },
    proofs: {
      type: 'string',
      value: 'FILE',
      description: 'a proof a line, as "sluice logs proof" gives them, for an export that is not whole',
    },
  },
  notes: 'EXPORT is what "sluice logs export" wrote, - for standard input. Leaves with 1 where the log was changed.',
  async run(input, terminal) {
    const finding = await verify(filesOf(input), terminal.signal);
    if (isForPeople(terminal, input.values.json === true)) await write(terminal.stdout, `${finding.text}\n`);
    else await printAnswer(terminal, { verified: finding.isGood, message: finding.text }, true);
    return finding.isGood ? exitCodes.done : exitCodes.refused;
  },
};

function filesOf(input: Input): VerifyFiles {
  const [key, checkpoint, proofs] = ['key', 'checkpoint', 'proofs'].map((name) => textOf(input, name));
  if (key === undefined) throw new UsageError('It needs --key FILE: the public keys of the ledger');
  if ((checkpoint === undefined) === (proofs === undefined)) {
    throw new UsageError('It needs --checkpoint FILE for a whole export, or --proofs FILE for another');
  }
  const [file = ''] = input.positionals;
  const [witness, dropped] = ['witness', 'dropped'].map((name) => textOf(input, name));
  if (dropped !== undefined && !/^\d{1,15}$/.test(dropped)) throw new UsageError('--dropped must be a whole number');
  const known = dropped === undefined ? undefined : Number(dropped);
  return { export: file, key, checkpoint, proofs, since: textsOf(input, 'since'), witness, dropped: known };
}

async function verify(files: VerifyFiles, signal: AbortSignal): Promise<Finding> {
  try {
    return await verifyFiles(files, signal);
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}
