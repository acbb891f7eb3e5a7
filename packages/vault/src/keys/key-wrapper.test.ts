import { randomBytes } from 'node:crypto';
import { createLocalKeyWrapper } from './key-wrapper.ts';

const rootKey = () => randomBytes(32).toString('base64');

describe('createLocalKeyWrapper', () => {
  test('unwraps what it wrapped, in the same context only', async () => {
    const wrapper = createLocalKeyWrapper(rootKey());
    const key = randomBytes(32);
    const wrapped = await wrapper.wrap(key, 'tenant/token_data/1');
    expect((await wrapper.unwrap(wrapped, 'tenant/token_data/1')).equals(key)).toBe(true);
    expect(wrapped.includes(key)).toBe(false);
    await expect(wrapper.unwrap(wrapped, 'tenant/token_data/2')).rejects.toThrow();
  });

  test('another root key does not unwrap', async () => {
    const wrapped = await createLocalKeyWrapper(rootKey()).wrap(randomBytes(32), 'context');
    await expect(createLocalKeyWrapper(rootKey()).unwrap(wrapped, 'context')).rejects.toThrow();
  });

  test('a changed or cut wrapped key does not unwrap', async () => {
    const wrapper = createLocalKeyWrapper(rootKey());
    const wrapped = await wrapper.wrap(randomBytes(32), 'context');
    for (let i = 0; i < wrapped.length; i++) {
      const changed = Buffer.from(wrapped);
      changed.writeUInt8(changed.readUInt8(i) ^ 1, i);
      await expect(wrapper.unwrap(changed, 'context')).rejects.toThrow();
      await expect(wrapper.unwrap(wrapped.subarray(0, i), 'context')).rejects.toThrow();
    }
  });

  test('the id is of the key, and does not hold it', () => {
    const root = rootKey();
    const { currentKeyId } = createLocalKeyWrapper(root);
    expect(currentKeyId).toMatch(/^local:[0-9a-f]{16}$/);
    expect(createLocalKeyWrapper(`${root}\n`).currentKeyId).toBe(currentKeyId);
    expect(createLocalKeyWrapper(rootKey()).currentKeyId).not.toBe(currentKeyId);
    expect(Buffer.from(root, 'base64').toString('hex')).not.toContain(currentKeyId.slice(6));
  });

  test.each(['', 'not base64!', Buffer.alloc(16).toString('base64'), Buffer.alloc(33).toString('base64')])(
    'refuses %j as a root key, without repeating it',
    (text) => {
      expect(() => createLocalKeyWrapper(text)).toThrow(/^ROOT_KEY must be/);
      if (text !== '') expect(() => createLocalKeyWrapper(text)).not.toThrow(text);
    },
  );
});
