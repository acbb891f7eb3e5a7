import { Watches } from './watches.ts';

test('each watch is told once of a change that names a tag of its own, and of no other, until it stops', () => {
  const watches = new Watches();
  const told: string[] = [];
  const stopFirst = watches.add(['a', 'b'], () => told.push('first'));
  watches.add(['b', 'c'], () => told.push('second'));
  watches.tell(['a', 'b']);
  watches.tell(['d']);
  expect(told.splice(0)).toEqual(['first', 'second']);
  stopFirst();
  watches.tell(['a', 'b']);
  watches.tellAll();
  expect(told).toEqual(['second', 'second']);
});

test('a watch that ends when it is told disturbs no other', () => {
  const watches = new Watches();
  const told: string[] = [];
  const stop = watches.add(['a'], () => {
    told.push('first');
    stop();
  });
  watches.add(['a'], () => told.push('second'));
  watches.tell(['a']);
  watches.tell(['a']);
  expect(told).toEqual(['first', 'second', 'second']);
});
