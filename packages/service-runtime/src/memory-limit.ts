import { totalmem } from 'node:os';

/** Of this process, in bytes: that of its cgroup, otherwise the memory of the machine. */
export function memoryLimit(): number {
  const ofCgroup = process.constrainedMemory();
  return ofCgroup > 0 ? Math.min(ofCgroup, totalmem()) : totalmem();
}
