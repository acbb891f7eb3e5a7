import type { Stage } from './dockerfile.ts';

/** The parts of a package.json that concern an image. */
export interface PackageManifest {
  /** Folder of its workspace in the image. */
  folder: string;
  name: string;
  dependencies?: Record<string, string>;
}

/** Production dependencies of the workspaces of an image that are not among its files. */
export function missingDependencies(manifests: readonly PackageManifest[], files: ReadonlySet<string>): string[] {
  return manifests.flatMap(({ folder, name, dependencies = {} }) =>
    Object.keys(dependencies)
      // npm puts a version that only this workspace needs into the workspace itself.
      .filter(
        (dependency) => !files.has(`node_modules/${dependency}`) && !files.has(`${folder}/node_modules/${dependency}`),
      )
      .map((dependency) => `${name}: ${dependency} is missing`),
  );
}

/** Instructions that make an image large, or give its containers more rights than they need. */
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
