import { randomBytes } from 'node:crypto';
import { localKeyWrapper } from './local-key-wrapper.ts';

const rootKey = () => randomBytes(32).toString('base64');

describe('localKeyWrapper', () => {
  test('unwraps what it wrapped, in the same context only', async () => {
    const wrapper = localKeyWrapper(rootKey());
    const key = randomBytes(32);
    const { wrapped, keyId } = await wrapper.wrap(key, 'tenant/token_data/1');
    expect((await wrapper.unwrap(wrapped, { context: 'tenant/token_data/1', keyId })).equals(key)).toBe(true);
    expect(wrapped.includes(key)).toBe(false);
    await expect(wrapper.unwrap(wrapped, { context: 'tenant/token_data/2', keyId })).rejects.toThrow();
  });

  test('another root key does not unwrap, whatever id it is asked for', async () => {
    const [one, two] = [localKeyWrapper(rootKey()), localKeyWrapper(rootKey())];
    const { wrapped, keyId } = await one.wrap(randomBytes(32), 'context');
    for (const id of [keyId, await two.currentKeyId(), 'local:0', '']) {
      await expect(two.unwrap(wrapped, { context: 'context', keyId: id })).rejects.toThrow();
    }
  });

  test('a previous root key opens what it wrapped, and wraps nothing', async () => {
    const [old, older, root] = [rootKey(), rootKey(), rootKey()];
    const wrapper = localKeyWrapper(root, [old, older]);
    const key = randomBytes(32);
    for (const before of [old, older, root]) {
      const { wrapped, keyId } = await localKeyWrapper(before).wrap(key, 'context');
      expect((await wrapper.unwrap(wrapped, { context: 'context', keyId })).equals(key)).toBe(true);
    }
    expect((await wrapper.wrap(key, 'context')).keyId).toBe(await localKeyWrapper(root).currentKeyId());
  });

  test('a changed or cut wrapped key does not unwrap', async () => {
    const wrapper = localKeyWrapper(rootKey());
    const { wrapped, keyId } = await wrapper.wrap(randomBytes(32), 'context');
    for (let i = 0; i < wrapped.length; i++) {
      const changed = Buffer.from(wrapped);
      changed.writeUInt8(changed.readUInt8(i) ^ 1, i);
      await expect(wrapper.unwrap(changed, { context: 'context', keyId })).rejects.toThrow();
      await expect(wrapper.unwrap(wrapped.subarray(0, i), { context: 'context', keyId })).rejects.toThrow();
    }
  });

  test('the id is of the key, and does not hold it', async () => {
    const root = rootKey();
    const id = await localKeyWrapper(root).currentKeyId();
    expect(id).toMatch(/^local:[0-9a-f]{16}$/);
    expect(await localKeyWrapper(`${root}\n`).currentKeyId()).toBe(id);
    expect(await localKeyWrapper(rootKey()).currentKeyId()).not.toBe(id);
    expect(Buffer.from(root, 'base64').toString('hex')).not.toContain(id.slice(6));
  });

  test.each(['', 'not base64!', Buffer.alloc(16).toString('base64'), Buffer.alloc(33).toString('base64')])(
    'refuses %j as a root key, without repeating it',
    (text) => {
      expect(() => localKeyWrapper(text)).toThrow(/^ROOT_KEY must be/);
      expect(() => localKeyWrapper(rootKey(), [text])).toThrow(/^ROOT_KEY_PREVIOUS must be/);
      if (text !== '') expect(() => localKeyWrapper(text)).not.toThrow(text);
    },
  );
});
