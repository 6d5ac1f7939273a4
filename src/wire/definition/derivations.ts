import { Type, type Static } from 'typebox'

/** A derivation file as parsed. */
export const DerivationAnswer = Type.Object({
  file: Type.String(),
  kind: Type.String(),
  targets: Type.Array(Type.String()),
  inputs: Type.Array(Type.String(), {
    description: 'Fields whose change makes the targets stale, including those used only in placeholders.',
  }),
  hosts: Type.Array(Type.String(), { description: '`host:port` of the hosts that runs call.' }),
  resources: Type.Optional(
    Type.Array(Type.Object({ type: Type.String(), name: Type.String() }), {
      description:
        'Others that runs touch, by `type`: a `file`, another `sheet` or a `process`. Absent when there are none.',
    }),
  ),
  text: Type.String(),
})
export type DerivationAnswer = Static<typeof DerivationAnswer>

/** Response of `GET /api/derivations`: each derivation comes after those that it depends on. */
export const DerivationsAnswer = Type.Object({ derivations: Type.Array(DerivationAnswer) })
export type DerivationsAnswer = Static<typeof DerivationsAnswer>

/** Converts derivations to the wire format. */
export function toDerivationsAnswer(
  derivations: readonly (Pick<DerivationAnswer, 'file' | 'kind' | 'text'> & {
    readonly targets: readonly string[]
    readonly inputs: readonly string[]
    readonly resources: readonly { readonly type: string; readonly name: string }[]
  })[],
): DerivationsAnswer {
  return {
    derivations: derivations.map(({ file, kind, targets, inputs, resources, text }) => {
      const others = resources.filter(({ type }) => type !== 'host')
      return {
        file,
        kind,
        targets: [...targets],
        inputs: [...inputs],
        hosts: resources.filter(({ type }) => type === 'host').map(({ name }) => name),
        ...(others.length > 0 && { resources: others }),
        text,
      }
    }),
  }
}
