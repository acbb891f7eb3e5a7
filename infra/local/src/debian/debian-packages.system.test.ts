import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { libraryPath, unpackDebianPackages } from './debian-packages.ts';

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sluice-packages-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

test('a package that is not to be had is an error, and leaves nothing unfinished behind', async () => {
  const options = { packages: ['sluice-has-no-such-package'], directory };
  await expect(unpackDebianPackages(options)).rejects.toThrow(/apt-get/);
  expect(await readdir(directory)).toEqual([]);
});

test('libraryPath names the folders of the machine’s architecture first', async () => {
  const root = join(directory, 'root');
  await mkdir(join(root, 'usr', 'lib', 'x86_64-linux-gnu'), { recursive: true });
  await mkdir(join(root, 'usr', 'lib', 'systemd'), { recursive: true });
  await mkdir(join(root, 'usr', 'lib', 'x86_64-linux-gnu', 'pulseaudio'), { recursive: true });
  await writeFile(join(root, 'usr', 'lib', 'x86_64-linux-gnu', 'pulseaudio', 'libpulsecommon-16.1.so'), '');
  await mkdir(join(root, 'usr', 'lib', 'x86_64-linux-gnu', 'gio'), { recursive: true });
  expect((await libraryPath(root)).split(':')[0]).toBe(join(root, 'usr', 'lib', 'x86_64-linux-gnu'));
  expect(await libraryPath(root)).not.toMatch(/systemd|gio/);
});

test('libraries in a folder of their own below it are found too', async () => {
  const path = await libraryPath(join(directory, 'root'));
  expect(path.split(':')).toContain(join(directory, 'root', 'usr', 'lib', 'x86_64-linux-gnu', 'pulseaudio'));
});
