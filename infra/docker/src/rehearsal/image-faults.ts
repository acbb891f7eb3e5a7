import type { Stage } from './dockerfile.ts';

/** What a package.json says, as far as an image is concerned. */
export interface PackageManifest {
  /** Of its workspace in the image. */
  folder: string;
  name: string;
  dependencies?: Record<string, string>;
}

/** What the workspaces of an image need in production, and is not among its files. */
export function missingDependencies(manifests: readonly PackageManifest[], files: ReadonlySet<string>): string[] {
  return manifests.flatMap(({ folder, name, dependencies = {} }) =>
    Object.keys(dependencies)
      // A version that only this workspace needs lies in it
      .filter(
        (dependency) => !files.has(`node_modules/${dependency}`) && !files.has(`${folder}/node_modules/${dependency}`),
      )
      .map((dependency) => `${name}: ${dependency} is missing`),
  );
}

/** What would make images large, or their containers powerful. */
export function dockerfileFaults(stages: readonly Stage[]): string[] {
  const last = stages.at(-1);
  const instructions = last?.instructions ?? [];
  const user = instructions.findLast(({ name }) => name === 'USER')?.rest ?? 'root';
  const built = instructions.filter(({ name, rest }) => name === 'COPY' && !rest.startsWith('--from='));
  const installed = instructions.filter(
    ({ name, rest }) => name === 'RUN' && /\b(npm|npx|apt-get|apk|curl)\b/.test(rest),
  );
  return [
    ...(stages.length < 2 ? ['what builds is in the image'] : []),
    ...(/^(root|0)(:|$)/.test(user) ? ['the image runs as root'] : []),
    ...built.map(({ rest }) => `the image has files of the context: COPY ${rest}`),
    ...installed.map(({ rest }) => `the image installs: ${rest}`),
    ...stages.filter(({ base }) => !/:\d/.test(base)).map(({ base }) => `${base} names no version`),
    ...stages.flatMap(({ instructions: all }) =>
      all
        .filter(({ name, rest }) => /^(ENV|ARG)$/.test(name) && /PASSWORD|SECRET|TOKEN|_KEY/.test(rest))
        .map(({ rest }) => `a secret is in a layer: ${rest}`),
    ),
  ];
}
