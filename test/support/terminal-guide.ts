import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import type { CodeBlock } from './markdown.ts'
import { onEnd } from './on-end.ts'
import { BIN } from './run-colophon.ts'
import { Terminal } from './terminal.ts'

/** Commands of a guide, with the output that it shows, if any. */
export interface GuideStep {
  readonly commands: string
  readonly shown: string | null
}

/** Returns the blocks of commands of a guide, each with the following output. */
export function guideSteps(blocks: readonly CodeBlock[]): GuideStep[] {
  return blocks.flatMap((block, index) => {
    const next = blocks[index + 1]
    if (block.lang !== 'sh') return []
    return [{ commands: block.text, shown: next?.lang === 'text' ? next.text : null }]
  })
}

/** Returns the path of the file that a block is to be saved as, according to the text before it; undefined for any other block. */
export function savedAs({ before }: CodeBlock): string | undefined {
  return /Save this as `([^`]+)`:$/.exec(before.replaceAll('\n', ' '))?.[1]
}

/**
 * Follows a guide from start to end in a folder of its own: saves its files, and runs its commands as {@link runStep} does, after `change`.
 * Returns the number of blocks with commands.
 */
export async function followGuide(
  t: TestContext,
  blocks: readonly CodeBlock[],
  change: (commands: string) => string = (commands) => commands,
): Promise<number> {
  const root = await mkdtemp(join(tmpdir(), 'colophon-guide-'))
  onEnd(t, () => rm(root, { recursive: true, force: true }))
  const bin = await commandFolder(root)
  let count = 0
  for (const [index, block] of blocks.entries()) {
    const name = savedAs(block)
    if (name !== undefined) {
      await mkdir(dirname(join(root, name)), { recursive: true })
      await writeFile(join(root, name), block.text)
    }
    const [step] = block.lang === 'sh' ? guideSteps(blocks.slice(index, index + 2)) : []
    if (step === undefined) continue
    await runStep(t, { ...step, commands: change(step.commands) }, { root, bin, columns: 160 })
    count += 1
  }
  return count
}

/** Creates a folder with the command `colophon`; returns the folder, for a PATH. */
export async function commandFolder(root: string): Promise<string> {
  const folder = join(root, 'bin')
  await mkdir(folder)
  await writeFile(join(folder, 'colophon'), `#!/bin/sh\nexec '${process.execPath}' '${BIN}' "$@"\n`, {
    mode: 0o755,
  })
  return folder
}

/** Runs the commands of a step at a terminal, answers yes where the guide does, and compares the output with that of the guide. */
export async function runStep(
  t: TestContext,
  { commands, shown }: GuideStep,
  { root, bin, columns, env = {} }: { root: string; bin: string; columns: number; env?: NodeJS.ProcessEnv },
): Promise<void> {
  const terminal = new Terminal(t, commands, {
    cwd: root,
    columns,
    env: { PATH: `${bin}:${process.env['PATH'] ?? ''}`, NO_COLOR: '1', ...env },
  })
  if (shown?.includes('[y/N] y') === true) {
    await terminal.shows(/\[y\/N\] $/)
    terminal.type('y\r')
  }
  await terminal.end()
  if (shown !== null) assert.equal(comparable(terminal.left), comparable(shown), commands)
}

/** Returns the output without the parts that differ from run to run: times, hashes, durations, ports. */
function comparable(text: string): string {
  return (
    text
      .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3})?Z/g, '2026-11-21T10:00:00Z')
      .replaceAll(/sha256:(?:…|[0-9a-f]{64})/g, 'sha256:…')
      .replaceAll(/^(duration_ms +)\d+/gm, '$14')
      // Calls at the same time end in either order.
      .replaceAll(/^(seq +)\d+$/gm, '$12')
      .replaceAll(/^ *\d+(?= {2}2026-11-21T10:00:00Z)/gm, '  2')
      .replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:4010')
      .replaceAll(/[ \t]+$/gm, '')
      .trim()
  )
}
