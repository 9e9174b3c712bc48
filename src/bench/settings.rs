//! The settings of our engine as options: one for each in the list, the same on every
//! command that measures.

use clap::builder::PossibleValuesParser;
use clap::parser::ArgMatches;
use clap::{Arg, ArgAction, Command};
use fathom_bench::settings::Choices;
use fathom_record::Setting;
use fathom_record::setting::Rule;

/// The values that were named of each setting; one of each where rows are there once.
#[derive(Clone, Debug, Default)]
pub struct Settings<const IS_EXACT: bool = false>(Choices);

impl Settings<true> {
    /// What was named, for rows that are there once each.
    ///
    /// # Errors
    /// A setting of which several values are named.
    pub fn exact(self) -> anyhow::Result<Choices> {
        self.0.exact().map_err(|setting| {
            anyhow::anyhow!("--{setting}: one value, since one engine is measured")
        })
    }
}

impl Settings {
    /// What was named, as it is measured.
    pub fn choices(self) -> Choices {
        self.0
    }
}

fn option(setting: Setting, is_exact: bool) -> Arg {
    let choices = setting.choices().iter();
    let names: Vec<&str> = choices.map(|choice| choice.name).collect();
    let rule = match setting.rule() {
        Rule::Beside if !is_exact => ", measured beside the default",
        Rule::Beside | Rule::Multiply => "",
    };
    let mut help = setting.help().to_owned();
    help[..1].make_ascii_uppercase();
    Arg::new(setting.name())
        .long(setting.name())
        .value_name("VALUES")
        .value_delimiter(',')
        .action(ArgAction::Append)
        .value_parser(PossibleValuesParser::new(names.clone()))
        .hide_possible_values(true)
        .help(format!(
            "{help}: {}{rule} [default: {}]",
            names.join(", "),
            setting.default()
        ))
}

impl<const IS_EXACT: bool> clap::Args for Settings<IS_EXACT> {
    fn augment_args(command: Command) -> Command {
        command.args(
            Setting::ALL
                .iter()
                .map(|setting| option(*setting, IS_EXACT)),
        )
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<const IS_EXACT: bool> clap::FromArgMatches for Settings<IS_EXACT> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut settings = Self::default();
        settings.update_from_arg_matches(matches)?;
        Ok(settings)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        for setting in Setting::ALL.iter().copied() {
            if let Some(values) = matches.get_many::<String>(setting.name()) {
                let values: Vec<&String> = values.collect();
                self.0 = std::mem::take(&mut self.0).with(setting, &values);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        settings: Settings,
    }

    fn read(words: &[&str]) -> Result<Settings, String> {
        let words = ["x"].iter().chain(words);
        let line = Line::try_parse_from(words).map_err(|error| error.to_string());
        line.map(|line| line.settings)
    }

    #[test]
    fn every_setting_is_an_option_with_its_values() {
        for setting in Setting::ALL.iter().copied() {
            let names: Vec<&str> = setting.choices().iter().map(|one| one.name).collect();
            let option = format!("--{setting}={}", names.join(","));
            let choices = read(&[&option]).unwrap().choices();
            assert_eq!(choices.of(setting), names);
            assert!(read(&[&format!("--{setting}=x")]).is_err());
        }
        assert_eq!(read(&[]).unwrap().choices(), Choices::default());
    }

    #[test]
    fn several_values_are_refused_where_one_engine_is_measured() {
        let two = Settings::<true>(Choices::default().with(Setting::Opt, &["speed", "none"]));
        let error = two.exact().unwrap_err().to_string();
        assert!(error.starts_with("--opt: one value"), "{error}");
    }
}
