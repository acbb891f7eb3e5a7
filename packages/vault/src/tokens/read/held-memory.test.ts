import { useStack } from '@sluice/testing';
import {
  type Actor,
  createToken,
  detokenize,
  findToken,
  listTokens,
  searchTokens,
  updateToken,
  walkTokens,
} from '../../index.ts';
import { openTestVault } from '../../testing/open-test-vault.ts';

const open = useStack(openTestVault);

const count = 160_000;
/** Parsed, it takes twenty times its size, and more than all else that is reserved for the request. */
const objects: object[] = Array(count).fill({});
const parsed = count * 50;

async function storeObjects(): Promise<{ actor: Actor; id: string }> {
  const { vault, createActor } = open.current;
  const actor = await createActor();
  return { actor, id: (await createToken(vault, actor, { data: objects })).token.id };
}

const page = { page: 1, size: 20 };

describe.each<[string, (actor: Actor, id: string) => Promise<unknown>]>([
  ['a read', (actor, id) => findToken(open.current.vault, actor, id)],
  ['a list', (actor) => listTokens(open.current.vault, actor, {}, page)],
  ['a search', (actor) => searchTokens(open.current.vault, actor, { query: 'type:token', ...page })],
  ['a walk', (actor) => walkTokens(open.current.vault, actor, {}, { size: 20 })],
  ['a detokenization', (actor, id) => detokenize(open.current.vault, actor, `{{ ${id} }}`)],
  ['a patch', (actor, id) => updateToken(open.current.vault, actor, id, { metadata: { a: 'b' } })],
])('%s', (_name, run) => {
  test('reserves what it parses', async () => {
    const { actor, id } = await storeObjects();
    let held = 0;
    const hold = (bytes: number) => {
      held += bytes;
      return undefined;
    };
    await run({ ...actor, hold }, id);
    expect(held).toBeGreaterThan(parsed);
  });

  test('waits for room, and is refused where there is none', async () => {
    const { actor, id } = await storeObjects();
    const hold = async () => {
      throw new Error('no room');
    };
    await expect(run({ ...actor, hold }, id)).rejects.toThrow('no room');
  });
});
