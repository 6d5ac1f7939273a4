import { Command, Option } from 'commander'
import { withOutput } from '../../options/command-context.ts'
import { addExamples } from '../../options/examples.ts'

interface Flags {
  readonly name: string
}

/** `colophon sign-key <file>`. */
export function signKeyCommand(): Command {
  const command = new Command('sign-key')
    .description('Make a private key that signs checkpoints of a log, and print the public key for others.')
    .argument('<file>', 'new file of the private key, outside of the sheet')
    .addOption(new Option('--name <name>', 'name of the key in signatures').default('colophon'))
  addExamples(command, [
    ['colophon sign-key ~/countries.key > countries.pub', 'A key pair'],
    ['colophon sign-key ~/countries.key --name example.org/countries', 'A key whose name says whose it is'],
  ])
  return command.action((file: string, { name }: Flags) =>
    withOutput({}, async (out) => {
      const { createSignKey } = await import('../../../sheet/log/sign-key.ts')
      await out.write(`${createSignKey(file, name)}\n`)
    }),
  )
}
