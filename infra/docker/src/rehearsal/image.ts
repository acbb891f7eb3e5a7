import { execFile } from 'node:child_process';
import { cp, mkdir, readFile } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';
import { promisify } from 'node:util';
import { buildContextFiles } from './build-context.ts';
import { type ComposeService, repositoryRoot } from './compose-file.ts';
import { type Instruction, parseDockerfile } from './dockerfile.ts';

/** The result of a build, in a folder. */
export interface Image {
  /** The folder that is `/` of the container, without the base image. */
  root: string;
  /** Path inside the container. */
  workingDirectory: string;
  command: string[];
  environment: Record<string, string>;
  user: string;
}

const runFile = promisify(execFile);

interface Build {
  /** Finished stages, by name. */
  done: Map<string, Image>;
  args: Record<string, string>;
}

/**
 * Follows the Dockerfile of a service without a container: the same files, the same commands, but with this machine's
 * node, npm and user. Commands that the last stage runs as root to prepare the base image are left out.
 */
export async function buildImage(build: NonNullable<ComposeService['build']>, folder: string): Promise<Image> {
  const stages = parseDockerfile(await readFile(join(repositoryRoot, build.dockerfile), 'utf8'));
  const done = new Map<string, Image>();
  for (const [index, stage] of stages.entries()) {
    const name = stage.name ?? String(index);
    const image: Image = {
      root: join(folder, name),
      workingDirectory: '/',
      command: [],
      environment: {},
      user: 'root',
    };
    await mkdir(image.root, { recursive: true });
    const isLast = stage === stages.at(-1);
    for (const instruction of stage.instructions) {
      if (!(isLast && instruction.name === 'RUN')) await follow(instruction, image, { done, args: build.args });
    }
    done.set(name, image);
    if (isLast) return image;
  }
  throw new Error(`${build.dockerfile} has no stage`);
}

async function follow({ name, rest }: Instruction, image: Image, { done, args }: Build): Promise<void> {
  const inside = (path: string) => join(image.root, posix.resolve(image.workingDirectory, path));
  switch (name) {
    case 'ARG':
      if (!(rest in args)) throw new Error(`the build argument ${rest} is not given`);
      return;
    case 'ENV': {
      const [variable = '', value = ''] = rest.split('=');
      image.environment[variable] = value;
      return;
    }
    case 'WORKDIR': {
      const path = rest.replaceAll(/\$(\w+)/g, (_, variable: string) => args[variable] ?? '');
      image.workingDirectory = posix.resolve(image.workingDirectory, path);
      await mkdir(inside('.'), { recursive: true });
      return;
    }
    case 'COPY': {
      const [, stage, from = '', to] = /^(?:--from=(\S+) )?(\S+) (\S+)$/.exec(rest) ?? [];
      if (to === undefined) throw new Error(`the rehearsal does not know COPY ${rest}`);
      // For many small files the program `cp` is several times as fast as Node's own copy.
      if (stage) await runFile('cp', ['-R', '-P', `${join(done.get(stage)?.root ?? stage, from)}/.`, inside(to)]);
      else await copyContext(join(repositoryRoot, from), inside(to));
      return;
    }
    case 'RUN':
      return run(rest.replaceAll(/--mount=\S+ /g, ''), { cwd: inside('.'), args });
    case 'USER':
      image.user = rest;
      return;
    case 'CMD':
      image.command = JSON.parse(rest);
      return;
    default:
      throw new Error(`${name} is not an instruction that the rehearsal knows`);
  }
}

async function copyContext(from: string, to: string): Promise<void> {
  for (const path of await buildContextFiles(from)) {
    await mkdir(dirname(join(to, path)), { recursive: true });
    await cp(join(from, path), join(to, path));
  }
}

/**
 * npm uses its cache if it can. The settings of an npm that runs us do not apply, because they are for another folder.
 */
async function run(command: string, { cwd, args }: { cwd: string; args: Record<string, string> }): Promise<void> {
  const ours = Object.entries(process.env).filter(
    ([name]) => !/^(npm_(package|lifecycle)_|npm_config_local_prefix$|INIT_CWD$|NODE_ENV$|NODE_OPTIONS$)/.test(name),
  );
  const env = { ...Object.fromEntries(ours), npm_config_prefer_offline: 'true', ...args };
  await runFile('sh', ['-c', command], { cwd, env, timeout: 600_000 });
}
