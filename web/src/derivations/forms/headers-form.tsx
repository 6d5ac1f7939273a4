import { useQuery } from '@tanstack/react-query'
import { X } from 'lucide-react'
import { useState } from 'react'
import { derivationsQuery } from '../../api/queries.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { CodeInput } from './code-input.tsx'
import type { FormPart } from './form-context.ts'
import { isMembers, memberOf, membersAt, textOf, type FormMembers } from './form-text.ts'
import type { KindField } from './kind-fields.ts'
import { NO_SECRETS, secretsIn, secretText, type Secret } from './secrets.ts'

interface HeadersProps {
  readonly field: KindField
  readonly part: FormPart
  readonly headers: FormMembers
}

/** The headers of a request, with the secrets that they name. */
export function HeadersForm({
  field: { key, label, hint },
  part: { at, edit, contract },
  headers,
}: HeadersProps) {
  const { data } = useQuery(derivationsQuery)
  const secrets = data?.secrets ?? NO_SECRETS
  const [typed, setTyped] = useState('')
  const [added, setAdded] = useState<string | null>(null)
  const names = Object.keys(headers)
  const add = (): void => {
    const name = typed.trim()
    if (name === '' || names.includes(name)) return
    edit((file) =>
      isMembers(memberOf(membersAt(file, at), key))
        ? [{ op: 'set', path: [...at, key, name], value: '' }]
        : [{ op: 'set', path: [...at, key], value: { [name]: '' } }],
    )
    setTyped('')
    setAdded(name)
  }
  return (
    <fieldset className="form-headers">
      <legend>{label}</legend>
      {names.map((name) => (
        <div key={name} className="form-header">
          <div className="form-header-value">
            <CodeInput
              mode="env"
              secrets={secrets}
              contract={contract}
              label={name}
              hint={null}
              text={textOf(headers, name)}
              hasLines={false}
              example=""
              takesFocus={name === added}
              onText={(text) => edit(() => [{ op: 'set', path: [...at, key, name], value: text }])}
            />
            {data !== undefined && (
              <SecretStates names={secretsIn(textOf(headers, name))} secrets={secrets} />
            )}
          </div>
          <IconButton
            label={`Remove the header ${name}`}
            onClick={() => edit(() => [{ op: 'remove', path: [...at, key, name] }])}
          >
            <X size={15} />
          </IconButton>
        </div>
      ))}
      <div className="form-add">
        <input
          className="input"
          aria-label="Name of a further header"
          placeholder="Authorization"
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter') return
            event.preventDefault()
            add()
          }}
        />
        <Button disabled={typed.trim() === '' || names.includes(typed.trim())} onClick={add}>
          Add header
        </Button>
      </div>
      {hint !== undefined && <p className="form-hint">{hint}</p>}
    </fieldset>
  )
}

interface SecretStatesProps {
  readonly names: readonly string[]
  readonly secrets: readonly Secret[]
}

/** The secrets that a header names, and whether the server has them. */
function SecretStates({ names, secrets }: SecretStatesProps) {
  return names.map((name) => {
    const isSet = secrets.find((each) => each.name === name)?.is_set
    return (
      <p key={name} className={isSet === false ? 'form-error' : 'form-hint'}>
        <code>{name}</code> {secretText(isSet)}
      </p>
    )
  })
}
