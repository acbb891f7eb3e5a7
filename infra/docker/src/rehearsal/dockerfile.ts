/** One instruction of a Dockerfile, with its lines joined. */
export interface Instruction {
  name: string;
  rest: string;
}

export interface Stage {
  base: string;
  /** The name in `FROM … AS name`. */
  name: string | undefined;
  instructions: Instruction[];
}

/** The stages of a Dockerfile, in order. */
export function parseDockerfile(text: string): Stage[] {
  const stages: Stage[] = [];
  for (const { name, rest } of instructionsOf(text)) {
    if (name === 'FROM') {
      const [base = '', , stageName] = rest.split(/\s+/);
      stages.push({ base, name: stageName, instructions: [] });
    } else {
      const stage = stages.at(-1);
      if (!stage) throw new Error(`${name} stands before FROM`);
      stage.instructions.push({ name, rest });
    }
  }
  return stages;
}

function instructionsOf(text: string): Instruction[] {
  return text
    .split('\n')
    .filter((line) => !line.trimStart().startsWith('#'))
    .join('\n')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, name = '', rest = ''] = /^\s*(\S+)\s+(.*?)\s*$/.exec(line) ?? [];
      return { name: name.toUpperCase(), rest };
    });
}
