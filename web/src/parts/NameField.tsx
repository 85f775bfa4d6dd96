import { useId } from "react";
import { Choice } from "./Choice";
import { Field } from "./Field";

/** A name to type, with those that are known on offer; a key that allows some gives a choice. */
export function NameField({
  label,
  value,
  onChange,
  known = [],
  allowed = [],
  hint,
  placeholder,
}: {
  label: string;
  value: string;
  onChange: (name: string) => void;
  known?: string[];
  allowed?: string[];
  hint?: string;
  placeholder?: string;
}) {
  const id = useId();
  if (allowed.length > 0) {
    const options = allowed.map((name) => ({ id: name, label: name }));
    return <Choice label={label} value={value} options={options} onChange={onChange} />;
  }
  return (
    <>
      <Field
        label={label}
        description={hint}
        placeholder={placeholder}
        value={value}
        onChange={onChange}
        list={id}
      />
      <datalist id={id}>
        {known.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </>
  );
}
