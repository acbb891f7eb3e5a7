import type { ConfigSchema } from '@sluice/service-runtime';
import { settingFaults } from '../../../docker/src/rehearsal/setting-faults.ts';
import { environmentOf, type Workload } from '../manifest.ts';

/** Faults in the environment of a workload, and in the files that it mounts for it. */
export function environmentFaults({ container, pod }: Workload, schema: ConfigSchema | undefined): string[] {
  const environment = environmentOf(container);
  const { env = [], envFrom = [], volumeMounts = [] } = container;
  const indirect = (env ?? [])
    .filter(({ valueFrom }) => valueFrom)
    .map(({ name }) => `${name} is not given as a value; secrets are files`);
  const volumes = new Map((pod.volumes ?? []).map((volume) => [volume.name, volume]));

  const mounts = (volumeMounts ?? []).map((mount) => ({ ...mount, volume: volumes.get(mount.name) }));
  const files = mounts.flatMap(({ mountPath, volume }) =>
    (volume?.secret?.items ?? []).map(({ path }) => `${mountPath}/${path}`),
  );
  const named = Object.entries(environment).filter(([name]) => name.endsWith('_FILE'));
  const missing = named.filter(([, path]) => !files.includes(path)).map(([name]) => `${name} is in no Secret`);
  const paths = new Set(named.map(([, path]) => path));
  const unused = files.filter((path) => !paths.has(path)).map((path) => `${path} is a secret that no setting names`);
  const whole = mounts
    .filter(({ volume }) => volume?.secret && !volume.secret.items)
    .map(({ name }) => `${name} is a whole Secret, say which keys of it`);
  const loose = mounts
    .filter(({ volume, readOnly }) => volume?.secret && (!readOnly || volume.secret.defaultMode !== 0o440))
    .map(({ name }) => `${name} is a Secret that is not for the group alone to read`);

  const spool = environment.DISCLOSURE_SPOOL_DIRECTORY;
  const isKept = mounts.some(
    ({ mountPath, volume, readOnly }) =>
      (volume?.emptyDir ?? volume?.persistentVolumeClaim) && !readOnly && `${spool}/`.startsWith(`${mountPath}/`),
  );
  return [
    ...settingFaults(environment, schema),
    ...indirect,
    ...((envFrom ?? []).length > 0 ? ['envFrom is not checked, give each variable'] : []),
    ...missing,
    ...unused,
    ...whole,
    ...loose,
    ...(schema && 'DISCLOSURE_SPOOL_DIRECTORY' in schema.properties && !isKept
      ? ['DISCLOSURE_SPOOL_DIRECTORY is in no volume that outlives the container']
      : []),
  ];
}
