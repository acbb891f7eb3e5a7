import { randomBytes } from 'node:crypto';
import { createLocalKeyWrapper } from './local-key-wrapper.ts';

const rootKey = () => randomBytes(32).toString('base64');

describe('createLocalKeyWrapper', () => {
  test('unwraps what it wrapped, in the same context only', async () => {
    const wrapper = createLocalKeyWrapper(rootKey());
    const key = randomBytes(32);
    const { wrapped, keyId } = await wrapper.wrap(key, 'tenant/token_data/1');
    expect((await wrapper.unwrap(wrapped, { context: 'tenant/token_data/1', keyId })).equals(key)).toBe(true);
    expect(wrapped.includes(key)).toBe(false);
    await expect(wrapper.unwrap(wrapped, { context: 'tenant/token_data/2', keyId })).rejects.toThrow();
  });

  test('another root key does not unwrap, whatever id it is asked for', async () => {
    const [one, two] = [createLocalKeyWrapper(rootKey()), createLocalKeyWrapper(rootKey())];
    const { wrapped, keyId } = await one.wrap(randomBytes(32), 'context');
    for (const id of [keyId, await two.currentKeyId(), 'local:0', '']) {
      await expect(two.unwrap(wrapped, { context: 'context', keyId: id })).rejects.toThrow();
    }
  });

  test('a previous root key opens what it wrapped, and wraps nothing', async () => {
    const [old, older, root] = [rootKey(), rootKey(), rootKey()];
    const wrapper = createLocalKeyWrapper(root, [old, older]);
    const key = randomBytes(32);
    for (const before of [old, older, root]) {
      const { wrapped, keyId } = await createLocalKeyWrapper(before).wrap(key, 'context');
      expect((await wrapper.unwrap(wrapped, { context: 'context', keyId })).equals(key)).toBe(true);
    }
    expect((await wrapper.wrap(key, 'context')).keyId).toBe(await createLocalKeyWrapper(root).currentKeyId());
  });

  test('a changed or cut wrapped key does not unwrap', async () => {
    const wrapper = createLocalKeyWrapper(rootKey());
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
    const id = await createLocalKeyWrapper(root).currentKeyId();
    expect(id).toMatch(/^local:[0-9a-f]{16}$/);
    expect(await createLocalKeyWrapper(`${root}\n`).currentKeyId()).toBe(id);
    expect(await createLocalKeyWrapper(rootKey()).currentKeyId()).not.toBe(id);
    expect(Buffer.from(root, 'base64').toString('hex')).not.toContain(id.slice(6));
  });

  test.each(['', 'not base64!', Buffer.alloc(16).toString('base64'), Buffer.alloc(33).toString('base64')])(
    'refuses %j as a root key, without repeating it',
    (text) => {
      expect(() => createLocalKeyWrapper(text)).toThrow(/^ROOT_KEY must be/);
      expect(() => createLocalKeyWrapper(rootKey(), [text])).toThrow(/^ROOT_KEY_PREVIOUS must be/);
      if (text !== '') expect(() => createLocalKeyWrapper(text)).not.toThrow(text);
    },
  );
});
