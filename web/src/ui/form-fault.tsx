import './form.css'

/** What is wrong, told as soon as it is; nothing when nothing is. */
export function FormFault({ text, id }: { readonly text: string | null; readonly id?: string }) {
  if (text === null) return null
  return (
    <p className="form-fault" id={id} role="alert">
      {text}
    </p>
  )
}
