import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, readlink, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { repositoryRoot } from '@sluice/local/parts';

const sources = ['package.json', 'services', 'packages', 'infra'];

/** Does what real ones do: columns with and without a default, an index, a fill, a table. */
const migration = `import { sql } from 'kysely';

const statements = [
  \`alter table applications add column next_note text not null default 'none', add column next_filled_at timestamptz\`,
  \`alter table proxies add column next_note text not null default 'none'\`,
  \`alter table tokens add column next_note text not null default 'none'\`,
  \`update applications set next_filled_at = created_at\`,
  \`create index applications_next on applications (tenant_id, next_filled_at)\`,
  \`create table next_things (tenant_id uuid not null, id uuid not null, primary key (tenant_id, id))\`,
];

export async function up(db) {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
`;

/**
 * Makes the next version of the product in a new folder: its sources, with one more migration. Installed packages are
 * those of this version.
 */
export async function writeNextVersion(folder: string): Promise<void> {
  await mkdir(folder);
  for (const source of sources) {
    await cp(join(repositoryRoot, source), join(folder, source), {
      recursive: true,
      filter: (from) => basename(from) !== 'node_modules' && !from.endsWith('.test.ts'),
    });
  }
  await linkPackages(folder);
  await addMigration(join(folder, 'packages', 'database', 'src'));
}

/** Links to what is installed, but to the folder's own packages. */
async function linkPackages(folder: string): Promise<void> {
  const installed = join(repositoryRoot, 'node_modules');
  const own = join(folder, 'node_modules', '@sluice');
  await mkdir(own, { recursive: true });
  for (const name of await readdir(installed)) {
    if (name !== '@sluice') await symlink(join(installed, name), join(folder, 'node_modules', name));
  }
  for (const name of await readdir(join(installed, '@sluice'))) {
    await symlink(await readlink(join(installed, '@sluice', name)), join(own, name)); // they lead to ../../packages
  }
  for (const group of ['services', 'packages', 'infra']) {
    for (const name of await readdir(join(repositoryRoot, group))) {
      const nested = join(group, name, 'node_modules');
      if (existsSync(join(repositoryRoot, nested))) await symlink(join(repositoryRoot, nested), join(folder, nested));
    }
  }
}

async function addMigration(folder: string): Promise<void> {
  await writeFile(join(folder, 'migrations', '9999-next-version.ts'), migration);
  const list = join(folder, 'migrate.ts');
  const text = await readFile(list, 'utf8');
  const changed = text
    .replace(/^const migrations = \{$/m, `import * as nextVersion from './migrations/9999-next-version.ts';\n\n$&`)
    .replace(/^(const migrations = \{\n(?: {2}.*\n)*)\};$/m, `$1  '9999-next-version': nextVersion,\n};`);
  if (!changed.includes("'9999-next-version': nextVersion")) throw new Error(`${list} has another form`);
  await writeFile(list, changed);
}
