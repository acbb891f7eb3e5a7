import { type Command, textOf } from '../command.ts';
import { isForPeople, printAnswer } from '../output/print.ts';
import { connect } from '../profile/connect.ts';

export const search: Command = {
  words: ['search'],
  summary: 'Search Applications, Proxies, reactors, reactor formulas and members by name, e-mail address or id',
  arguments: ['TEXT'],
  options: {},
  notes: `TEXT has 3 to 200 characters. An id is found by its first eight digits or more.
Shows at most 8 of each kind that the key may read. To find more, use --name of a list command, such as sluice proxies list.`,
  async run(input, terminal) {
    const [text = ''] = input.positionals;
    const sluice = await connect(terminal, { keyTypes: ['management'], profile: textOf(input, 'profile') });
    const answer = await sluice.search({ q: text }, { signal: terminal.signal });
    const json = input.values.json === true;
    await printAnswer(terminal, isForPeople(terminal, json) ? answer.data : answer, json);
    return undefined;
  },
};
