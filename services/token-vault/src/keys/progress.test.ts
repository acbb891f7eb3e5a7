import { Progress } from './progress.ts';

function open(isTTY: boolean) {
  const written: string[] = [];
  const time = { now: 0 };
  const progress = new Progress({ isTTY, write: (text: string) => void written.push(text) }, () => time.now);
  const at = (seconds: number, done: number, total = 100_000) => {
    time.now = seconds * 1000;
    progress.update('tokens', { done, total });
  };
  return { progress, written, at };
}

test('on a terminal one line is drawn over: share, rows a second, time left; and wiped', () => {
  const { progress, written, at } = open(true);
  at(1, 0);
  at(1.05, 1);
  at(11, 25_000);
  at(31, 100_000);
  progress.clear();
  progress.clear();
  expect(written).toEqual([
    '\r\x1b[Ktokens [------------------------] 0 %  0 of 100,000',
    '\r\x1b[Ktokens [######------------------] 25 %  25,000 of 100,000  2,500 rows/s  30 s left',
    '\r\x1b[Ktokens [########################] 100 %  100,000 of 100,000  3,333 rows/s  0 s left',
    '\r\x1b[K',
  ]);
});

test('elsewhere a whole line every five seconds', () => {
  const { progress, written, at } = open(false);
  at(0, 0);
  for (let second = 1; second <= 11; second++) at(second, second);
  progress.clear();
  expect(written).toEqual([
    'tokens [------------------------] 0 %  5 of 100,000  1 rows/s  27 h 46 min left\n',
    'tokens [------------------------] 0 %  10 of 100,000  1 rows/s  27 h 46 min left\n',
  ]);
});

test('what has nothing to do is done', () => {
  const { written, at } = open(true);
  at(1, 0, 0);
  expect(written).toEqual(['\r\x1b[Ktokens [########################] 100 %  0 of 0']);
});
