import { type Finding, type VerifyFiles, verifyFiles } from '@sluice/ledger';
import { type Command, type Input, textOf, textsOf } from '../command.ts';
import { exitCodes, UsageError } from '../failure.ts';
import { isForPeople, printAnswer, write } from '../output/print.ts';

export const verifyLogs: Command = {
  words: ['logs', 'verify'],
  summary: 'Verify an export of the audit log against a signed checkpoint, without a connection',
  arguments: ['EXPORT'],
  options: {
    key: {
      type: 'string',
      value: 'FILE',
      description: 'file with the public keys: the output of "sluice logs public-key"',
    },
    checkpoint: {
      type: 'string',
      value: 'FILE',
      description: 'file with a signed checkpoint: the output of "sluice logs checkpoint"',
    },
    since: {
      type: 'string',
      value: 'FILE',
      multiple: true,
      description:
        'file with another checkpoint of the same ledger, for example one that is older than that of --checkpoint',
    },
    witness: { type: 'string', value: 'FILE', description: 'file with checkpoints that the worker sent to a witness' },
    dropped: {
      type: 'string',
      value: 'N',
      description: 'number of rows that retention has dropped, if the newest checkpoint does not state it',
    },
    proofs: {
      type: 'string',
      value: 'FILE',
      description:
        'file with the output of "sluice logs proof", one proof per line; required if EXPORT was made with filters',
    },
  },
  notes:
    'EXPORT is the output of "sluice logs export", or - for standard input. The exit code is 1 if the log was changed.',
  async run(input, terminal) {
    const finding = await verify(filesOf(input), terminal.signal);
    if (isForPeople(terminal, input.values.json === true)) await write(terminal.stdout, `${finding.text}\n`);
    else await printAnswer(terminal, { verified: finding.isGood, message: finding.text }, true);
    return finding.isGood ? exitCodes.done : exitCodes.refused;
  },
};

function filesOf(input: Input): VerifyFiles {
  const [key, checkpoint, proofs] = ['key', 'checkpoint', 'proofs'].map((name) => textOf(input, name));
  if (key === undefined) throw new UsageError('--key FILE is required: the public keys of the ledger');
  if ((checkpoint === undefined) === (proofs === undefined)) {
    throw new UsageError(
      '--checkpoint FILE is required for a complete export, --proofs FILE for an export with filters',
    );
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
