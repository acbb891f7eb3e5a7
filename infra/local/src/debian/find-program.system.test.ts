import { delimiter, dirname } from 'node:path';
import { findProgram } from './find-program.ts';

test('a program on the PATH is taken as it is', async () => {
  const path = ['/nowhere', dirname(process.execPath)].join(delimiter);
  expect(await findProgram('node', { path, packages: ['sluice-has-no-such-package'] })).toEqual({
    command: process.execPath,
    env: {},
  });
});

test('what is neither here nor in a package is an error', async () => {
  const found = findProgram('sluice-has-no-such-program', { path: '', packages: ['sluice-has-no-such-package'] });
  await expect(found).rejects.toThrow(/apt-get/);
});
