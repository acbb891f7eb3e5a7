import type { ReactorRun } from '@sluice/sdk';
import { Badge, type Tone } from '../../ui/layout.tsx';

const tones: Partial<Record<ReactorRun['state'], Tone>> = { running: 'info', done: 'good', failed: 'bad' };

export function RunState({ state }: Pick<ReactorRun, 'state'>) {
  return <Badge tone={tones[state]}>{state}</Badge>;
}
