import { access, readFile } from 'node:fs/promises';
import { Sluice } from './index.ts';

const repository = new URL('../../../', import.meta.url);
const documents = ['llms.txt', 'README.md', 'packages/sdk/README.md'];
const sluice = new Sluice({ baseUrl: 'https://sluice.example.com', apiKey: 'k' });

const textOf = (document: string) => readFile(new URL(document, repository), 'utf8');

test.each(documents)('every method that %s names is there', async (document) => {
  const named = [...(await textOf(document)).matchAll(/\bsluice\.([a-z][\w.]*)\(/gi)].map(([, name = '']) => name);
  expect(named.length).toBeGreaterThan(0);
  for (const name of named) {
    const found = name.split('.').reduce<unknown>((at, word) => Object(at)[word], sluice);
    expect([name, typeof found]).toEqual([name, 'function']);
  }
});

test.each(['llms.txt', 'packages/sdk/README.md'])('every link of %s leads somewhere', async (document) => {
  const links = [...(await textOf(document)).matchAll(/\]\((?!https?:)([^)#]+)\)/g)].map(([, link = '']) => link);
  expect(links.length).toBeGreaterThan(0);
  for (const link of links) await access(new URL(link, new URL(document, repository)));
});
