import { type Command, textOf } from '../command.ts';
import { connect } from '../profile/connect.ts';
import { parseJson, readTextFile } from '../read-input.ts';
import { printTrial, readObject } from './test-transform.ts';

export const testReactor: Command = {
  words: ['reactors', 'test'],
  summary: 'Run the code in FILE in the sandbox, once (reactor:update)',
  arguments: ['FILE'],
  options: {
    args: { type: 'string', value: 'FILE', description: 'JSON file with the value of req.args; default: {}' },
    configuration: {
      type: 'string',
      value: 'FILE',
      description: 'JSON file with names and values of req.configuration',
    },
  },
  notes:
    'The exit code is 1 if the code does not compile or throws. Expressions are not evaluated, no token is created, there is no req.svc, and fetch rejects.',
  async run(input, terminal) {
    const [file = ''] = input.positionals;
    const args = textOf(input, 'args');
    const body = {
      code: await readTextFile(file),
      args: args === undefined ? {} : parseJson(await readTextFile(args), args),
      configuration: (await readObject(input, 'configuration')) as Record<string, string | number | boolean>,
    };
    const sluice = await connect(terminal, { keyTypes: ['management'], profile: textOf(input, 'profile') });
    return printTrial(await sluice.reactors.test(body, { signal: terminal.signal }), input, terminal);
  },
};
