import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { WorkPieces } from '@sluice/service-runtime';
import { operationsOf, Reply } from './index.ts';
import { readCheckedBody } from './read-checked-body.ts';

const operation = operationsOf<object>()({
  ...{ id: 'open', tag: 'T', summary: 'S', method: 'post', path: '/', response: { 204: null } },
  body: { type: 'object' },
  handle: async () => new Reply(204, undefined),
} as const);

async function turnsWithin(value: object): Promise<number> {
  let turns = 0;
  const count = () => {
    turns += 1;
    immediate = setImmediate(count);
  };
  let immediate = setImmediate(count);
  let parsedAt = 0;
  let checkedAt = 0;
  const request = new IncomingMessage(new Socket());
  request.headers['content-type'] = 'application/json';
  request.push(JSON.stringify(value));
  request.push(null);
  const check = () => {
    checkedAt = turns;
  };
  const part = { bytes: 0, grow: () => undefined, growTo: () => undefined, shrinkTo: () => {}, release: () => {} };
  const notesParsing = {
    ...part,
    grow() {
      parsedAt = turns;
      return undefined;
    },
  };
  const memory = { part: (name: string) => (name === 'answer' ? notesParsing : part), release: () => {} };
  await readCheckedBody(request, operation, { check, memory, passes: new WorkPieces(), tenantId: 't' });
  clearImmediate(immediate);
  return checkedAt - parsedAt;
}

test('others get a turn between the passes over a large body; the control: over a small one they need none', async () => {
  expect(await turnsWithin(Array(50_000).fill(0))).toBeGreaterThanOrEqual(2);
  expect(await turnsWithin([0])).toBe(0);
});
