//! Functions there and back, and damaged on the way.

use std::{path::Path, thread};

use fathom_sql::Session;

use super::*;

const MODULE: &str = r#"(module (memory (export "memory") 1)
  (func (export "fathom_reserve") (param i32) (result i32) (i32.const 1024))
  (func (export "f") (param i32 i32) (result i32) (i32.const 1)))"#;

fn made(sql: &str) -> Function {
    let all = statement::parse(sql).unwrap();
    let [Statement::Create(create)] = all.as_slice() else {
        panic!("{sql}");
    };
    let module = wat::parse_str(MODULE).unwrap();
    let program = Programs::default()
        .compile(create.clone(), module, 0)
        .unwrap();
    Function::new(program).unwrap()
}

fn written() -> Vec<u8> {
    let sql =
        "CREATE FUNCTION \"F f\"(bigint, varchar) RETURNS bigint LANGUAGE wasm AS 'f.wasm', 'f'
               WITH (deadline = '77ms', bounds = 'trap')";
    let mut bytes = Vec::new();
    assert!(write(&made(sql), &mut bytes));
    bytes
}

fn udf(functions: &Functions, bytes: &[u8]) -> Arc<datafusion::logical_expr::ScalarUDF> {
    match functions.read(bytes).unwrap() {
        (Function::Scalar(udf), []) => udf,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_function_is_the_same_on_the_other_side() {
    let bytes = written();
    assert!(is_one(&bytes));
    let there = Function::Scalar(udf(&Functions::new(0), &bytes));
    let (create, module) = there.parts().unwrap();
    assert_eq!(module, wat::parse_str(MODULE).unwrap());
    assert_eq!(create.name, "F f");
    assert_eq!(create.options.deadline.as_millis(), 77);
    let mut again = Vec::new();
    write(&there, &mut again);
    assert_eq!(again, bytes);
    // What is behind it is handed on.
    let two = [bytes.as_slice(), &bytes].concat();
    let functions = Functions::new(0);
    let (_, rest) = functions.read(&two).unwrap();
    assert_eq!(rest, bytes);
}

#[test]
fn it_is_compiled_once_however_many_bring_it() {
    let (bytes, functions) = (written(), Functions::new(0));
    let all = thread::scope(|scope| {
        let readers = [(); 8].map(|()| scope.spawn(|| udf(&functions, &bytes)));
        readers.map(|reader| reader.join().unwrap())
    });
    assert!(all.iter().all(|one| Arc::ptr_eq(one, &all[0])));
    // Those that were used last are kept.
    for i in 0..KEPT_MAX {
        let sql = format!("CREATE FUNCTION f{i}() RETURNS int LANGUAGE wasm AS 'f.wasm', 'f'");
        let mut other = Vec::new();
        write(&made(&sql), &mut other);
        functions.read(&other).unwrap();
    }
    assert_eq!(functions.kept().len(), KEPT_MAX);
    // They are of one module, under one strategy and another.
    assert_eq!(functions.0.programs.compiled(), 2);
    assert!(!Arc::ptr_eq(&udf(&functions, &bytes), &all[0]));
}

#[test]
fn damaged_functions_are_refused() {
    let bytes = written();
    for length in 0..bytes.len() {
        assert!(
            Functions::new(0).read(&bytes[..length]).is_err(),
            "{length}"
        );
    }
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 4;
        assert!(Functions::new(0).read(&damaged).is_err(), "{at}");
    }
    // With a hash that is right, but nothing that a function can be made of.
    for (sql, expected) in [
        (&b"SELECT 1"[..], "creates none"),
        (b"CREATE FUNCTION", "expected the name of a function"),
        (b"\xff", "utf-8"),
        (
            b"CREATE FUNCTION f() RETURNS int LANGUAGE wasm AS 'f.wasm', 'f'",
            "f.wasm",
        ),
    ] {
        let mut body = (sql.len() as u32).to_le_bytes().to_vec();
        body.extend(sql);
        let error = Functions::new(0).read(&framed(&body)).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
    let error = Functions::new(0)
        .read(&framed(&[9, 0, 0, 0, 1]))
        .unwrap_err();
    assert!(error.to_string().contains("cut off"), "{error}");
}

/// Functions of others are left to others.
#[tokio::test]
async fn other_functions_are_not_written() {
    let session = Session::new(Default::default(), Path::new(".").to_owned()).unwrap();
    let state = session.context().state();
    let abs = state.scalar_functions().get("abs").unwrap();
    let mut bytes = Vec::new();
    assert!(!write(&Function::Scalar(abs.clone()), &mut bytes));
    assert!(bytes.is_empty());
}
