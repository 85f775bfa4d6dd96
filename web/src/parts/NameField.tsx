import { Description, Input, Label, TextField } from "@heroui/react";
import { useId } from "react";

/** A line for a name: one of those that are known, or any other. */
export function NameField({
  label,
  value,
  names,
  onChange,
  placeholder,
  description,
}: {
  label: string;
  value: string;
  names: string[];
  onChange: (name: string) => void;
  placeholder?: string;
  description?: string;
}) {
  const list = useId();
  return (
    <TextField className="w-full" value={value} onChange={onChange}>
      <Label>{label}</Label>
      <Input list={list} placeholder={placeholder} autoComplete="off" dir="auto" />
      {description !== undefined && <Description>{description}</Description>}
      <datalist id={list}>
        {names.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </TextField>
  );
}
