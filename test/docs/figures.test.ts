import { describe, expect, it } from 'vitest';
import { committedFigures, makeFigures, staleFigures } from '../../.scripts/figures.ts';
import { barsOf, drawChart } from '../../.scripts/figures-chart.ts';
import { besidePeers } from '../../.scripts/figures-peers.ts';
import { figureWords, goalWords, valueWords } from '../../.scripts/figures-words.ts';
import type { Figures } from '../bench/figures.ts';
import { elementsOf, readXml } from '../helpers/xml.ts';

const committed = committedFigures();
const made = makeFigures(committed);

describe('what is shown of the bench', () => {
  it('is made from its figures: page and chart', () => {
    expect(staleFigures(made), 'run `npm run figures`').toEqual([]);
  });

  it('is found stale when a figure has changed', () => {
    const changed = committed.figures.map((figure) => ({ ...figure, value: figure.value * 2 }));
    expect(staleFigures(makeFigures({ ...committed, figures: changed }))).toEqual([...made.keys()]);
  });

  it('has every figure on the page', () => {
    const page = made.get('docs/internals/measurements.md') ?? '';
    for (const figure of besidePeers(committed.figures)) {
      expect(page, figure.id).toContain(`| ${figureWords(figure)} | ${goalWords(figure)} |`);
    }
  });

  it('has one line for each program, with all of its figures', () => {
    const peers = committed.figures.filter((figure) => !besidePeers(committed.figures).includes(figure));
    const programs = Map.groupBy(peers, ({ id }) => /^(?:peer-)?[a-z]+/.exec(id)?.[0]);
    expect([...programs.keys()].toSorted()).toEqual([
      'handbill',
      'peer-aiohttp',
      'peer-artillery',
      'peer-curl',
      'peer-fetch',
      'peer-newman',
    ]);
    for (const own of programs.values()) {
      const line = `| ${[own[0]?.what.split(',')[0], ...own.map(valueWords)].join(' | ')} |`;
      expect(made.get('docs/internals/measurements.md')).toContain(line);
    }
  });

  it('names each figure by an id of its own', () => {
    const ids = committed.figures.map(({ id }) => id);
    expect(ids).toEqual([...new Set(ids)]);
    for (const id of ids) expect(id).toMatch(/^[a-z0-9]+(?:-[a-z0-9]+)*$/);
  });
});

describe('a figure', () => {
  const figure = { id: 'x', what: 'x', unit: 'times' };

  it.each([
    { value: 1.2345, unit: 'times', words: '1.2 times' },
    { value: 2, unit: 'times', words: '2.0 times' },
    { value: 8123.4, unit: 'messages/s', words: '8,100 messages/s' },
    { value: 63.35, unit: 'us CPU per message', words: '63 µs CPU per message' },
    { value: 1021, unit: 'messages', words: '1,021 messages' },
  ])('of $value $unit has two digits unless it is a count', ({ value, unit, words }) => {
    expect(figureWords({ ...figure, value, unit })).toBe(words);
  });

  it.each([
    { value: 1.51, goal: { atMost: 1.5 }, words: '1.51 times', verdict: 'at most 1.5: **missed**' },
    { value: 1.54, goal: { atMost: 1.54 }, words: '1.5 times', verdict: 'at most 1.54' },
    { value: 94.6, goal: { atLeast: 95 }, words: '94.6 times', verdict: 'at least 95: **missed**' },
    { value: 12, goal: { atLeast: 5 }, words: '12 times', verdict: 'at least 5' },
  ])('of $value is never rounded across its goal $goal', ({ value, goal, words, verdict }) => {
    expect(figureWords({ ...figure, value, goal })).toBe(words);
    expect(goalWords({ ...figure, value, goal })).toBe(verdict);
  });
});

describe('the chart', () => {
  const svg = made.get('docs/images/bench.svg') ?? '';

  it('is one image with a title, and with every bar in its description', () => {
    const root = readXml(`<?xml version="1.0" encoding="UTF-8"?>\n${svg}`);
    expect(root.name).toBe('svg');
    expect(elementsOf(root, 'title').map(({ text }) => text)).toEqual(['Messages per second']);
    const description = elementsOf(root, 'desc')[0]?.text ?? '';
    expect(barsOf(committed).length).toBeGreaterThan(1);
    for (const bar of barsOf(committed)) expect(description).toContain(figureWords(bar));
  });

  it('has bars as long as their figures, the largest of them as long as there is room', () => {
    const [first, second] = barsOf(committed);
    const widths = [...svg.matchAll(/class="(?:own|bar)"[^>]* width="([\d.]+)"/g)].map(([, width]) => Number(width));
    const rail = Number(/class="rail"[^>]* width="([\d.]+)"/.exec(svg)?.[1]);
    expect(widths[0]).toBe(rail);
    expect(widths[1]).toBeCloseTo((rail * (second?.value ?? 0)) / (first?.value ?? 1), 0);
  });

  it('shows the others as soon as there are figures of them', () => {
    const of = (id: string, what: string, value: number) => ({
      ...{ measurement: 'x', id, what, value },
      unit: 'messages/s',
    });
    const figures: Figures = {
      ...committed,
      figures: [
        of('send-rate', 'send', 900),
        of('bare-rate', 'bare loop', 1900),
        of('peer-ab-messages-per-second', 'a & b, 50 messages', 500),
        of('peer-ab-wall-messages-per-second', 'a & b, start to end', 400),
        of('handbill-messages-per-second', 'handbill, 500 messages', 1000),
      ],
    };
    expect(barsOf(figures).map(({ what }) => what)).toEqual(['handbill, 500 messages', 'a & b, 50 messages']);
    expect(drawChart(figures)).toContain('>a &amp; b</text>');
  });
});
