import { Command } from 'commander'
import { withOutput } from '../../options/command-context.ts'
import { addExamples } from '../../options/examples.ts'

/** `colophon merge-driver <ancestor> <ours> <theirs> <path>`. */
export function mergeDriverCommand(): Command {
  const command = new Command('merge-driver')
    .description(
      'Merge a file of a sheet for git, by record and field; git calls it with the versions of both branches.',
    )
    .argument('<ancestor>', "file with the version of the common ancestor: git's %O")
    .argument('<ours>', "file with the version of this branch, which receives the result: git's %A")
    .argument('<theirs>', "file with the version of the other branch: git's %B")
    .argument('<path>', "path of the merged file in the repository: git's %P")
  addExamples(command, [
    ["git config merge.colophon.driver 'colophon merge-driver %O %A %B %P'", 'Have git call it'],
  ])
  return command.action((base: string, ours: string, theirs: string, path: string) =>
    withOutput({}, async (out) => {
      const { mergeFile } = await import('../../../sheet/merge/merge-file.ts')
      const { EXIT } = await import('../../terminal/exit-codes.ts')
      const { isMerged, notes } = mergeFile({ base, ours, theirs, path })
      for (const note of notes) out.note(note)
      return isMerged ? EXIT.done : EXIT.error
    }),
  )
}
