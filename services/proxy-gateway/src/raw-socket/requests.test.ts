import { useStack } from '@sluice/testing';
import { startTestGateway } from '../testing/test-gateway.ts';
import { talk } from './testing/raw-client.ts';
import { readMessages, valuesOf } from './testing/read-messages.ts';
import { requestRows } from './testing/request-rows.ts';
import { closeScenes, openScene } from './testing/scene.ts';

const gateway = useStack((stack) => startTestGateway(stack));
afterEach(closeScenes);

test.each(requestRows)('%s is %j', async (_, [status = 0], request) => {
  const { destination, keys } = await openScene(gateway.current);
  const { text, hasEnded } = await talk(gateway.current.url, request.replace('KEYS', keys));
  const { messages: all, rest } = readMessages(text, { hasEnded });
  const messages = all.filter(({ start }) => !start.startsWith('HTTP/1.1 1'));
  expect({ statuses: messages.map(({ start }) => Number(start.split(' ')[1])), rest, hasEnded }).toEqual({
    statuses: [status],
    rest: '',
    hasEnded: true,
  });
  expect(destination.rest()).toEqual([]);
  expect(destination.texts.join('')).not.toMatch(/SVC-|evil/i);
  if (status === 200) {
    expect(destination.seen()).toHaveLength(1);
    expect(valuesOf(destination.seen()[0]?.lines ?? [], 'host')).toEqual([new URL(destination.url).host]);
  } else {
    expect(destination.texts).toEqual([]);
    expect(JSON.parse(messages[0]?.body ?? '')).toMatchObject({ proxy_error: { status } });
  }
});
