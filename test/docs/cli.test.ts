import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Command } from 'commander'
import { withReference } from '../../scripts/cli-reference.mjs'
import { examplesOf } from '../../src/cli/options/examples.ts'
import { OUTPUT_FORMATS } from '../../src/cli/terminal/output.ts'
import { createProgram } from '../../src/cli/program.ts'
import { PROGRESS_STYLES } from '../../src/cli/terminal/progress.ts'
import { code, codes, readPage, section, tableOf } from '../support/markdown.ts'

const page = readPage('docs/reference/cli.md')

test('the command line reference is the output of `npm run docs:cli`', async () => {
  assert.equal(page, await withReference(page))
})

test('the output formats and the kinds of progress are those of the reference', () => {
  const { rows } = tableOf(section(page, 'Results'), '`--format`')
  assert.deepEqual(
    rows.map(([format]) => code(format)),
    OUTPUT_FORMATS,
  )
  const named = codes(section(page, 'Runs'))
  for (const style of PROGRESS_STYLES)
    assert.ok(
      named.some((text) => text.endsWith(style)),
      style,
    )
})

/** The words after `colophon` in each command of a line of a shell. */
function commandLines(line: string): string[][] {
  return [...line.matchAll(/\bcolophon ((?:'[^']*'|"[^"]*"|[^'"|<>()\n])+)/g)].map(([, words = '']) =>
    (words.match(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g) ?? []).map((word) => word.replaceAll(/['"]/g, '')),
  )
}

test('the examples in the help of every command are valid commands', async () => {
  for (const { name, lines } of createProgram()
    .commands.flatMap((top) => [top, ...top.commands])
    .map((command) => ({
      name: command.name(),
      lines: examplesOf(command).map(([line]) => line),
    }))) {
    if (name !== 'serve') assert.ok(lines.length > 0, `${name} has no example`)
    for (const line of lines) {
      const found = commandLines(line)
      assert.ok(
        found.some(([command, below]) => command === name || below === name),
        line,
      )
      for (const words of found) await parse(words)
    }
  }
})

/** Parses a command line and does nothing. Throws for what makes no sense. */
async function parse(words: readonly string[]): Promise<void> {
  const program: Command = createProgram()
  for (const command of program.commands.flatMap((top) => [top, ...top.commands])) {
    command
      .action(() => undefined)
      .configureOutput({ writeErr: (text) => assert.fail(`${words.join(' ')}: ${text}`) })
  }
  await program.parseAsync(['node', 'colophon', ...words])
}
